// DBOS Transact on PostgreSQL: a workflow of ten steps, each of which returns the whole state.
//   node dbos.mjs [--seconds=N]
import { DBOS } from '@dbos-inc/dbos-sdk';
import { check, counted, measure, nodesPerRun, postgresUrl, state } from './work.mjs';

const line = DBOS.registerWorkflow(async (page) => {
  for (let i = 1; i <= nodesPerRun; i++) {
    const before = page;
    page = await DBOS.runStep(async () => counted(before), { name: `node${i}` });
  }
  return page;
}, { name: 'line' });

DBOS.setConfig({ name: 'bench', systemDatabaseUrl: postgresUrl, logLevel: 'error' });
await DBOS.launch();
await measure('DBOS', 'each step before the next begins', async () => check(await line(state())));
await DBOS.shutdown();
process.exit(0);
