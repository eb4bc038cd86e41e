#include "cli/localized_text.h"

namespace belay::cli {
namespace {

const LocalizedText kEnglish = {
    .saved = "saved",
    .nothing_to_do = "nothing to do",
    .rejected = "rejected",
    .expired = "expired",
    .failed = "failed",
    .cancelled = "cancelled",
    .completed = "completed",
    .thread = "Thread",
    .pending_decision = "waiting for your decision",
    .due = "Due",
    .worked_by = "claimed by",
    .expires = "Expires",
    .in = "in",
    .ago = "ago",
    .approve_with = "approve",
    .reject_with = "reject",
    .resume_with = "resume",
    .show_with = "show",
    .process_gone = "its process is gone",
    .held_by = "held by",
    .waits_for_process = "Thread {thread} is owned by another live process ({process}); waiting.",
    .uncertain_effect =
        "Uncertain: effect {effect} of {node} was started at {time}; its outcome is unknown.",
    .decided_by = "Decided by",
    .comment = "Comment",
    .edited = "Edited payload",
    .no_approvals = "No pending approvals.",
    .requested = "Requested",
    .queued = "queued",
    .running = "running",
    .paused = "paused",
    .quarantined = "quarantined",
    .open = "open",
    .approved = "approved",
    .closed = "closed",
    .released = "released to its queue",
    .given_up = "abandoned: {nodes}",
    .attempt_failed = "attempt {n} failed",
    .again_in = "retrying in",
    .approvals_expired = "Overdue approvals that have expired now: {n}.",
    .timers_fired = "Paused runs whose timer was due, continued now: {n}.",
    .claiming = "Claiming thread {thread}: its owner process has exited.",
    .begins_early = "Thread {thread} is due at {time}. Starting it now because it was named.",
    .nothing_to_resume = "No runs to resume.",
    .stopped = "Stopped. Thread {thread} is saved at its last commit. Resume with: {command}",
    .continues_on_server =
        "Stopped waiting. Thread {thread} continues on the server. Check it with: {command}",
    .stopped_idle = "Stopped. No run was in progress.",
    .listening = "Listening on {url}. Press Ctrl-C to shut down.",
    .shutting_down =
        "Shutting down: running nodes have {time} to complete. A second signal abandons them.",
    .stopping = "Shutting down now: running nodes are abandoned.",
    .worker_started = "Worker started. Press Ctrl-C to shut down.",
    .processed = "Runs processed: {n}.",
    .created_store = "Created store: {path}",
    .running_title = "Running",
    .orphaned_title = "Orphaned (owner process exited)",
    .queued_title = "Queued",
    .code_gone_title = "Code gone: no graph of this program continues them",
    .idle = "No runs in progress and no pending approvals.",
    .try_next = "Next steps",
    .won_approved = "Approved by {who}.",
    .won_rejected = "Rejected by {who}.",
    .same_decision = "Same decision already made by {who}; no change.",
    .on_behalf_of = "{who} on behalf of {whom}",
    .won_chosen = "Decided by {who}: {choice}.",
    .votes = "{n} of {needs} decisions: {who}.",
    .votes_short = "{n} of {needs}",
    .never_expires = "Never expires",
    .after_expiry = "then: {choice}",
    .answer = "Answer",
    .choice = "Choice",
    .expired_with = "Expired {time}; the run continued with \"{choice}\".",
    .needs_role = "Needs one of the roles: {roles}",
    .it_happened = "it happened",
    .do_again = "do it again",
};

const LocalizedText kSpanish = {
    .saved = "guardado",
    .nothing_to_do = "nada que hacer",
    .rejected = "rechazado",
    .expired = "vencido",
    .failed = "fallido",
    .cancelled = "cancelado",
    .completed = "completado",
    .thread = "Hilo",
    .pending_decision = "pendiente de decisión",
    .due = "Prevista",
    .worked_by = "lo ejecuta",
    .expires = "Vence",
    .in = "en",
    .ago = "hace",
    .approve_with = "aprobar",
    .reject_with = "rechazar",
    .resume_with = "reanudar",
    .show_with = "mostrar",
    .process_gone = "su proceso ha terminado",
    .held_by = "retenido por",
    .waits_for_process = "El hilo {thread} está en curso en otro proceso ({process}); esperando.",
    .uncertain_effect =
        "Incierto: el efecto {effect} de {node} se inició a las {time}; su resultado se desconoce.",
    .decided_by = "Decidido por",
    .comment = "Comentario",
    .edited = "Contenido editado",
    .no_approvals = "No hay aprobaciones pendientes.",
    .requested = "Solicitado",
    .queued = "en cola",
    .running = "en ejecución",
    .paused = "en pausa",
    .quarantined = "en cuarentena",
    .open = "pendiente",
    .approved = "aprobado",
    .closed = "cerrado",
    .released = "devuelta a su cola",
    .given_up = "abandonado: {nodes}",
    .attempt_failed = "falló el intento {n}",
    .again_in = "reintento en",
    .approvals_expired = "Aprobaciones vencidas que han caducado ahora: {n}.",
    .timers_fired = "Ejecuciones en pausa cuyo temporizador ha vencido y que continúan ahora: {n}.",
    .claiming = "Se retoma el hilo {thread}: su proceso ha terminado.",
    .begins_early =
        "El hilo {thread} está previsto para las {time}. Se inicia ahora porque se ha indicado por "
        "su nombre.",
    .nothing_to_resume = "No hay ejecuciones que reanudar.",
    .stopped =
        "Detenido. El hilo {thread} está guardado en su último paso. Para reanudarlo: {command}",
    .continues_on_server =
        "Espera detenida. El hilo {thread} continúa en el servidor. Para consultarlo: {command}",
    .stopped_idle = "Detenido. No había ninguna ejecución en curso.",
    .listening = "Escuchando en {url}. Ctrl-C para cerrar.",
    .shutting_down =
        "Cerrando: los nodos en curso tienen {time} para terminar. Una segunda señal los abandona.",
    .stopping = "Cerrando ahora: los nodos en curso se abandonan.",
    .worker_started = "Proceso de trabajo iniciado. Ctrl-C para cerrar.",
    .processed = "Ejecuciones procesadas: {n}.",
    .created_store = "Almacén creado: {path}",
    .running_title = "En ejecución",
    .orphaned_title = "Huérfanas (su proceso ha terminado)",
    .queued_title = "En cola",
    .code_gone_title = "Sin código: ningún grafo de este programa las continúa",
    .idle = "No hay ejecuciones en curso ni aprobaciones pendientes.",
    .try_next = "Siguientes pasos",
    .won_approved = "Aprobado por {who}.",
    .won_rejected = "Rechazado por {who}.",
    .same_decision = "Misma decisión ya tomada por {who}; sin cambios.",
    .on_behalf_of = "{who} en nombre de {whom}",
    .won_chosen = "Decidido por {who}: {choice}.",
    .votes = "{n} de {needs} decisiones: {who}.",
    .votes_short = "{n} de {needs}",
    .never_expires = "No vence",
    .after_expiry = "después: {choice}",
    .answer = "Respuesta",
    .choice = "Opción",
    .expired_with = "Venció el {time}; la ejecución continuó con \"{choice}\".",
    .needs_role = "Requiere uno de los roles: {roles}",
    .it_happened = "ha sucedido",
    .do_again = "hacerlo de nuevo",
};

std::string two_parts(std::int64_t large, std::string_view large_unit, std::int64_t small,
                      std::string_view small_unit) {
  std::string text = std::to_string(large) + " " + std::string(large_unit);
  if (small > 0) text += " " + std::to_string(small) + " " + std::string(small_unit);
  return text;
}

}  // namespace

const LocalizedText& phrases_of(Language language) {
  return language == Language::es ? kSpanish : kEnglish;
}

std::string_view status_label(const LocalizedText& phrases, RunStatus status) {
  switch (status) {
    case RunStatus::queued:
      return phrases.queued;
    case RunStatus::running:
      return phrases.running;
    case RunStatus::paused:
      return phrases.paused;
    case RunStatus::completed:
      return phrases.completed;
    case RunStatus::failed:
      return phrases.failed;
    case RunStatus::cancelled:
      return phrases.cancelled;
    case RunStatus::quarantined:
      return phrases.quarantined;
  }
  return "";
}

std::string_view status_label(const LocalizedText& phrases, ApprovalStatus status) {
  switch (status) {
    case ApprovalStatus::open:
      return phrases.open;
    case ApprovalStatus::approved:
      return phrases.approved;
    case ApprovalStatus::rejected:
      return phrases.rejected;
    case ApprovalStatus::expired:
      return phrases.expired;
    case ApprovalStatus::closed:
      return phrases.closed;
  }
  return "";
}

std::string_view known_outcome(const LocalizedText& phrases, std::string_view outcome) {
  if (outcome == "saved") return phrases.saved;
  if (outcome == "nothing_to_do") return phrases.nothing_to_do;
  if (outcome == "rejected") return phrases.rejected;
  return outcome == "expired" ? phrases.expired : std::string_view();
}

std::string outcome_label(const LocalizedText& phrases, std::string_view outcome) {
  std::string_view known = known_outcome(phrases, outcome);
  return known.empty() ? one_line(outcome) : std::string(known);
}

std::string span_text(std::chrono::milliseconds span) {
  std::int64_t ms = span.count() < 0 ? 0 : span.count();
  if (ms < 1'000) return std::to_string(ms) + " ms";
  if (ms < 60'000) {
    std::int64_t tenths = ms / 100;
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
  }
  std::int64_t minutes = ms / 60'000;
  if (minutes < 60) return std::to_string(minutes) + " min";
  if (minutes < 48 * 60) return two_parts(minutes / 60, "h", minutes % 60, "min");
  return two_parts(minutes / 1'440, "d", minutes % 1'440 / 60, "h");
}

std::string precise_text(const TimeZone& zone, Instant at) {
  return zone.text_of(at).substr(0, 23);
}

std::string relative_text(const LocalizedText& phrases, Instant at, Instant now) {
  auto span = std::chrono::duration_cast<std::chrono::milliseconds>(at - now);
  if (span.count() >= 0) return std::string(phrases.in) + " " + span_text(span);
  std::string past = span_text(-span);
  // English: "2 min ago". Spanish: "hace 2 min".
  if (phrases.ago == kSpanish.ago) return std::string(phrases.ago) + " " + past;
  return past + " " + std::string(phrases.ago);
}

}  // namespace belay::cli

namespace belay {

std::string_view name_of(Language language) { return language == Language::es ? "es" : "en"; }

std::string format_message(std::string_view wording, std::initializer_list<Filling> fillings) {
  std::string text;
  while (!wording.empty()) {
    bool replaced = false;
    for (const auto& [name, filling] : fillings) {
      std::string place = "{" + std::string(name) + "}";
      if (!wording.starts_with(place)) continue;
      text += filling;
      wording.remove_prefix(place.size());
      replaced = true;
      break;
    }
    if (replaced) continue;
    text += wording.front();
    wording.remove_prefix(1);
  }
  return text;
}

std::string moment_text(const TimeZone& zone, Instant at) {
  return zone.text_of(at).substr(0, 16) + " " + zone.name();
}

}  // namespace belay
