#include "cli/list_text.h"

namespace belay::cli {
namespace {

ListText english_lists() {
  return {
      .thread_headers = {"THREAD", "AGENT", "ACTIVE", "STATUS", "RUN", "TITLE"},
      .commit_headers = {"SEQ", "TIME", "COMMIT", "NODE", "STATUS", "TOOK"},
      .no_threads = "No threads yet. Start one: {command}",
      .more = "More: {command}",
      .code_gone = "code gone",
      .preserved = "Thread \"{thread}\" is preserved.",
      .unpreserved = "Thread \"{thread}\" is not preserved.",
      .title = "title:     ",
      .metadata = "metadata:  ",
      .created = "created:   ",
      .active = "active:    ",
      .expires = "expires:   ",
      .run = "Run {run}: {state}, {time}",
      .other_materials = "Commit {n}: other materials than before: {groups}",
      .matching = "{n} of {all} commits match the recording.",
      .different = "Commit {n}, {node}: different {part}.",
      .recorded = "recorded",
      .replayed = "replayed",
  };
}

ListText spanish_lists() {
  return {
      .thread_headers = {"HILO", "AGENTE", "ACTIVIDAD", "ESTADO", "EJECUCIÓN", "TÍTULO"},
      .commit_headers = {"N.º", "HORA", "PASO", "NODO", "ESTADO", "DURACIÓN"},
      .no_threads = "Todavía no hay hilos. Para iniciar uno: {command}",
      .more = "Más: {command}",
      .code_gone = "sin código",
      .preserved = "El hilo \"{thread}\" se conserva.",
      .unpreserved = "El hilo \"{thread}\" no se conserva.",
      .title = "título:     ",
      .metadata = "metadatos:  ",
      .created = "creado:     ",
      .active = "actividad:  ",
      .expires = "caduca:     ",
      .run = "Ejecución {run}: {state}, {time}",
      .other_materials = "Paso {n}: otros materiales que antes: {groups}",
      .matching = "{n} de {all} pasos coinciden con la grabación.",
      .different = "Paso {n}, {node}: es distinto: {part}.",
      .recorded = "grabado",
      .replayed = "repetido",
  };
}

std::string_view spanish_label(CommitKind kind) {
  switch (kind) {
    case CommitKind::input:
      return "entrada";
    case CommitKind::node:
      return "nodo";
    case CommitKind::attempt:
      return "intento";
    case CommitKind::pause:
      return "pausa";
    case CommitKind::decision:
      return "decisión";
    case CommitKind::expiry:
      return "vencimiento";
    case CommitKind::claim:
      return "relevo";
    case CommitKind::failure:
      return "fallo";
    case CommitKind::cancel:
      return "cancelación";
    case CommitKind::timer:
      return "temporizador";
    case CommitKind::release:
      return "devolución";
    case CommitKind::fork:
      return "bifurcación";
    case CommitKind::quarantine:
      return "cuarentena";
    case CommitKind::consent:
      return "consentimiento";
  }
  return "";
}

std::string_view spanish_material(std::string_view group) {
  if (group == "agent") return "agente";
  if (group == "model") return "modelo";
  if (group == "policy") return "políticas";
  if (group == "prompts") return "instrucciones";
  if (group == "tools") return "herramientas";
  return group;
}

std::string reason_text(Language language, const RunRow& run) {
  auto reason = pause_reason(run);
  if (language == Language::en || !reason) return run.reason;
  switch (*reason) {
    case PauseReason::approval:
      return "aprobación";
    case PauseReason::timer:
      return "temporizador";
    case PauseReason::breakpoint:
      return "punto de parada";
  }
  return "";
}

}  // namespace

const ListText& list_text_of(Language language) {
  static const ListText english = english_lists();
  static const ListText spanish = spanish_lists();
  return language == Language::es ? spanish : english;
}

std::string_view status_label(Language language, ThreadStatus status) {
  if (language == Language::en) return name_of(status);
  switch (status) {
    case ThreadStatus::idle:
      return "en reposo";
    case ThreadStatus::busy:
      return "ocupado";
    case ThreadStatus::interrupted:
      return "interrumpido";
    case ThreadStatus::error:
      return "con error";
  }
  return "";
}

std::string_view material_label(Language language, std::string_view group) {
  return language == Language::en ? group : spanish_material(group);
}

std::string_view commit_label(Language language, CommitKind kind) {
  return language == Language::es ? spanish_label(kind) : name_of(kind);
}

std::string run_state_text(Language language, const RunRow& run) {
  const LocalizedText& phrases = phrases_of(language);
  std::string state(status_label(phrases, run.status));
  if (!run.outcome.empty()) state += ": " + outcome_label(phrases, run.outcome);
  if (!run.reason.empty()) state += ": " + reason_text(language, run);
  return state;
}

}  // namespace belay::cli
