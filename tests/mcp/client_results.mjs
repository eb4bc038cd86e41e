// The expected results of the referee's client scenarios: by revision, or why one is not applicable.

export const results = {
  'initialize': {'2025-06-18': 'pass', '2025-11-25': 'pass'},
  'tools_call': {'2025-06-18': 'pass', '2025-11-25': 'pass', '2026-07-28': 'pass'},
  'elicitation-sep1034-client-defaults': {'2025-11-25': 'pass'},
  'sse-retry': {'2025-11-25': 'pass'},
  'request-metadata': {'2026-07-28': 'pass'},
  'sep-2322-client-request-state': {'2026-07-28': 'pass'},
  'http-standard-headers': {'2026-07-28': 'pass'},
  'http-custom-headers': {'2026-07-28': 'pass'},
  'http-invalid-tool-headers': {'2026-07-28': 'pass'},
  'json-schema-ref-no-deref': {'2026-07-28': 'pass'},
  'json-schema-2020-12-preservation': {'2025-11-25': 'pass', '2026-07-28': 'pass'},
  'auth/*': 'not applicable: the client has no OAuth flow, its token is an option',
  'sep-2640-*': 'not applicable: skills are not supported',
};
