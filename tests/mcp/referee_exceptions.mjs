// The checks of the referee that cannot pass, with the reason, by the revision that it tests, the
// scenario and the id of the check. Everything else must pass, and these must not.

const resources = 'Belay offers tools only, no resources.';
const prompts = 'Belay offers tools only, no prompts.';
const completion = 'Belay offers tools only, no completion of arguments.';
const logging = 'Belay sends no log messages to clients.';
const content = 'The result of an agent is its state as JSON, without images, audio or resources.';
const requests = 'Belay sends no requests to clients of the older era.';
const sampling = 'An agent uses its own models, and never the model or the folders of the client.';
const forms = 'An agent asks for approvals only, in its own form, whose names are its own.';
const headers = 'No agent maps arguments to headers (x-mcp-header), which is optional.';
const schemas = 'The schema of a tool is generated from the state of the agent, without $defs.';
const diagnosis = 'The scenario needs a tool that requires a capability of the client.';
const text = 'The text of a result is its structured content as JSON.';
const quarantine = 'Only a quarantined run fails so, which no tool causes: mcp_tasks_test.cc.';
const anyClient = 'Each agent can be called without tasks, too: no tool requires them.';
const durable = 'A run exists before it asks: a client with tasks receives the task first.';

const both = {
  'completion-complete': { 'completion-complete': completion },
  'json-schema-2020-12': { 'json-schema-2020-12-tool-found': schemas },
  'prompts-get-embedded-resource': { 'prompts-get-embedded-resource': prompts },
  'prompts-get-simple': { 'prompts-get-simple': prompts },
  'prompts-get-with-args': { 'prompts-get-with-args': prompts },
  'prompts-get-with-image': { 'prompts-get-with-image': prompts },
  'prompts-list': { 'prompts-list': prompts },
  'resources-list': { 'resources-list': resources },
  'resources-read-binary': { 'resources-read-binary': resources },
  'resources-read-text': { 'resources-read-text': resources },
  'resources-templates-read': { 'resources-templates-read': resources },
  'tools-call-audio': { 'tools-call-audio': content },
  'tools-call-embedded-resource': { 'tools-call-embedded-resource': content },
  'tools-call-image': { 'tools-call-image': content },
  'tools-call-mixed-content': { 'tools-call-mixed-content': content },
};

const older = {
  'elicitation-sep1034-defaults': { 'elicitation-sep1034-general': requests },
  'elicitation-sep1330-enums': { 'elicitation-sep1330-general': requests },
  'logging-set-level': { 'logging-set-level': logging },
  'resources-subscribe': { 'resources-subscribe': resources },
  'resources-unsubscribe': { 'resources-unsubscribe': resources },
  'tools-call-elicitation': { 'tools-call-elicitation': requests },
  'tools-call-sampling': { 'tools-call-sampling': requests },
  'tools-call-with-logging': { 'tools-call-with-logging': logging },
};

const modern = {
  caching: {
    'sep-2549-prompts-list-caching-hints': prompts,
    'sep-2549-resources-list-caching-hints': resources,
    'sep-2549-resources-templates-list-caching-hints': resources,
  },
  'http-custom-header-server-validation': {
    'sep-2243-server-decode-base64': headers,
    'sep-2243-server-no-xmcp-tool': headers,
    'sep-2243-server-reject-invalid-param-chars': headers,
    'sep-2243-server-reject-param-mismatch': headers,
    'sep-2243-server-validate-param-match': headers,
  },
  'input-required-result-basic-elicitation': { 'sep-2322-elicitation-incomplete': forms },
  'input-required-result-basic-list-roots': { 'sep-2322-list-roots-incomplete': sampling },
  'input-required-result-basic-sampling': { 'sep-2322-sampling-incomplete': sampling },
  'input-required-result-capability-check': { 'sep-2322-respect-client-capabilities': sampling },
  'input-required-result-multi-round': { 'sep-2322-multi-round-r1': forms },
  'input-required-result-multiple-input-requests': {
    'sep-2322-multiple-inputs-incomplete': sampling,
  },
  'input-required-result-non-tool-request': { 'sep-2322-non-tool-incomplete': prompts },
  'input-required-result-request-state': { 'sep-2322-request-state-complete': forms },
  'server-stateless': {
    'sep-2575-http-server-no-independent-requests-on-stream': diagnosis,
    'sep-2575-missing-capability-http-400': diagnosis,
    'sep-2575-server-no-log-without-loglevel': logging,
    'sep-2575-server-rejects-undeclared-capability': diagnosis,
  },
  'tasks-lifecycle': { 'sep-2663-tasks-get-status-failed': quarantine },
  'tasks-mrtr-composition': { 'sep-2663-mrtr-synchronous-before-task-creation': durable },
  'tasks-request-headers': { 'tasks-headers-tolerate-mcp-method-on-tools-call': text },
  'tasks-required-task-error': {
    'sep-2663-server-returns-missing-capability-when-required': anyClient,
  },
};

export const exceptions = {
  newest: { ...both, ...older, ...modern },
  '2025-11-25': { ...both, ...older },
};
