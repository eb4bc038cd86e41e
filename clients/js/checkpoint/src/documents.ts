// documents.ts - checkpoints, values and writes in the requests and answers of the server.

import type { WireBlob, WireValue } from "./values.js";

export interface WireChannelValue {
  channel: string;
  version: string;
  checkpointId: string;
  chain: WireBlob[];
}

export interface WireWrite {
  taskId: string;
  channel: string;
  value: WireValue;
}

export interface WireTuple {
  threadId: string;
  checkpointNs: string;
  checkpointId: string;
  parentCheckpointId: string | null;
  checkpoint: WireValue;
  metadata: WireValue;
  values: WireChannelValue[];
  writes: WireWrite[];
  sends: WireValue[] | null;
}

export interface WirePage {
  tuples: WireTuple[];
  next: string | null;
}

export interface WireHistory {
  writes: WireWrite[];
  seeds: WireChannelValue[];
  next: string | null;
}

export interface NewBlob {
  channel: string;
  version: string;
  isEmpty?: boolean;
  base?: string;
  baseCheckpointId?: string;
  head?: number;
  tail?: number;
}
