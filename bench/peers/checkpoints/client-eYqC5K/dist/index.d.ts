export { getCheckpointer, initializeCheckpointer } from "./checkpointer.js";
export { BelaySaver, type BelaySaverOptions, type Removed } from "./saver.js";
export { BelayError, type BelayServerOptions } from "./server.js";
