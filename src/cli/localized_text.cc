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
    .waits_for_you = "waits for you",
    .due = "Due",
    .worked_by = "taken up by",
    .expires = "Expires",
    .in = "in",
    .ago = "ago",
    .approve_with = "approve",
    .reject_with = "reject",
    .resume_with = "go on",
    .held_by = "held by",
    .waits_for_process =
        "Thread {thread} is at work in another living process ({process}); waiting.",
    .uncertain_effect =
        "Uncertain: the effect {effect} of {node} was begun at {time}; whether it happened is not "
        "known.",
    .decided_by = "Decided by",
    .comment = "Comment",
    .edited = "Edited to",
    .no_approvals = "Nothing waits for you.",
    .asked = "Asked",
    .queued = "queued",
    .running = "running",
    .paused = "paused",
    .quarantined = "quarantined",
    .open = "open",
    .approved = "approved",
    .closed = "closed",
    .released = "released to its queue",
    .given_up = "given up: {nodes}",
    .attempt_failed = "attempt {n} failed",
    .again_in = "again in",
    .approval_applied = "1 approval had expired; its run has ended without saving.",
    .approvals_applied = "{n} approvals had expired; their runs have ended without saving.",
    .taking_over = "Taking over thread {thread}: the process that had it is gone.",
    .begins_early =
        "Thread {thread} was due at {time}; it begins now, since you ask for it by name.",
    .nothing_left = "Nothing was left behind.",
    .stopped = "Stopped. Thread {thread} stands at its last commit; go on: {command}",
    .continues_on_server =
        "Stopped waiting. Thread {thread} goes on at the server; look: {command}",
    .stopped_idle = "Stopped; no run was under way.",
    .listening = "Listening on {url} (Ctrl-C or SIGTERM: end in good order)",
    .closing = "Shutting down: running nodes have {time} to end. A second signal gives them up.",
    .stopping = "Shutting down now: nodes that still run are given up.",
    .working = "Working on what waits. Ctrl-C or SIGTERM: end in good order.",
    .worked = "Took up {n} runs.",
    .at_work = "At work",
    .orphaned_title = "Left behind by a process that is gone",
    .in_the_queue = "In the queue, for a worker",
    .nothing_yet = "Nothing is running, and nothing waits for you.",
    .try_next = "Try next",
    .won_approved = "Approved by {who}.",
    .won_rejected = "Rejected by {who}.",
    .same_decision = "Already decided so by {who}; nothing changed.",
    .on_behalf_of = "{who} on behalf of {whom}",
};

const LocalizedText kSpanish = {
    .saved = "guardado",
    .nothing_to_do = "nada que hacer",
    .rejected = "rechazado",
    .expired = "caducado",
    .failed = "ha fallado",
    .cancelled = "cancelado",
    .completed = "completado",
    .thread = "Hilo",
    .waits_for_you = "te espera",
    .due = "Prevista",
    .worked_by = "lo toma",
    .expires = "Caduca",
    .in = "en",
    .ago = "hace",
    .approve_with = "aprobar",
    .reject_with = "rechazar",
    .resume_with = "continuar",
    .held_by = "retenido por",
    .waits_for_process = "El hilo {thread} está en curso en otro proceso ({process}); esperando.",
    .uncertain_effect =
        "Incierto: el efecto {effect} de {node} se inició a las {time}; no se sabe si ocurrió.",
    .decided_by = "Decidido por",
    .comment = "Comentario",
    .edited = "Editado como",
    .no_approvals = "Nada te espera.",
    .asked = "Preguntado",
    .queued = "en cola",
    .running = "en marcha",
    .paused = "en pausa",
    .quarantined = "en cuarentena",
    .open = "abierta",
    .approved = "aprobado",
    .closed = "cerrada",
    .released = "devuelta a su cola",
    .given_up = "abandonado: {nodes}",
    .attempt_failed = "ha fallado el intento {n}",
    .again_in = "de nuevo en",
    .approval_applied = "1 aprobación había caducado; su ejecución ha terminado sin guardar.",
    .approvals_applied =
        "{n} aprobaciones habían caducado; sus ejecuciones han terminado sin guardar.",
    .taking_over = "Se toma el hilo {thread}: el proceso que lo tenía ya no está.",
    .begins_early =
        "El hilo {thread} tocaba a las {time}; empieza ya, porque lo pides por su nombre.",
    .nothing_left = "No había quedado nada a medias.",
    .stopped = "Parado. El hilo {thread} está en su último paso guardado; para seguir: {command}",
    .continues_on_server =
        "Se deja de esperar. El hilo {thread} sigue en el servidor; para verlo: {command}",
    .stopped_idle = "Parado; no había nada en marcha.",
    .listening = "Escuchando en {url} (Ctrl-C o SIGTERM: terminar en orden)",
    .closing = "Cerrando: los nodos en curso tienen {time} para terminar. Otra señal los abandona.",
    .stopping = "Cerrando ya: los nodos que siguen en curso se abandonan.",
    .working = "Se trabaja en lo que espera. Ctrl-C o SIGTERM: terminar en orden.",
    .worked = "Ejecuciones tomadas: {n}.",
    .at_work = "En marcha",
    .orphaned_title = "A medias, de un proceso que ya no está",
    .in_the_queue = "En la cola, para un proceso que trabaje",
    .nothing_yet = "Nada está en marcha y nada te espera.",
    .try_next = "Prueba ahora",
    .won_approved = "Aprobado por {who}.",
    .won_rejected = "Rechazado por {who}.",
    .same_decision = "{who} ya lo había decidido así; nada ha cambiado.",
    .on_behalf_of = "{who} en nombre de {whom}",
};

std::string two_parts(std::int64_t large, std::string_view large_unit, std::int64_t small,
                      std::string_view small_unit) {
  std::string text = std::to_string(large) + " " + std::string(large_unit);
  if (small > 0) text += " " + std::to_string(small) + " " + std::string(small_unit);
  return text;
}

}  // namespace

std::string_view name_of(Language language) { return language == Language::es ? "es" : "en"; }

const LocalizedText& phrases_of(Language language) {
  return language == Language::es ? kSpanish : kEnglish;
}

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

std::string moment_text(const TimeZone& zone, Instant at) {
  return zone.text_of(at).substr(0, 16) + " " + zone.name();
}

std::string precise_text(const TimeZone& zone, Instant at) {
  return zone.text_of(at).substr(0, 23);
}

std::string relative_text(const LocalizedText& phrases, Instant at, Instant now) {
  auto span = std::chrono::duration_cast<std::chrono::milliseconds>(at - now);
  if (span.count() >= 0) return std::string(phrases.in) + " " + span_text(span);
  std::string past = span_text(-span);
  // "2 min ago" and "hace 2 min".
  if (phrases.ago == kSpanish.ago) return std::string(phrases.ago) + " " + past;
  return past + " " + std::string(phrases.ago);
}

}  // namespace belay::cli
