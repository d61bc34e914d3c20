import {systemClock} from '../../../src/runtime.ts'
import {openAuditLog} from '../../../src/server/audit/audit-log.ts'
import {NOW, request, user} from '../authn/support.ts'

/** Writes more than its limit on file sizes allows; run by a test under `ulimit -f`. */
const codes: unknown[] = []
const log = openAuditLog({
  path: process.argv[2] ?? '',
  clock: systemClock,
  onError: (error) => codes.push((error as {code?: unknown}).code),
})
for (let round = 0; round < 40; round += 1) {
  for (let id = 0; id < 300; id += 1) {
    const auditId = `${round}-${id}`
    const caller = user('ann')
    log.record({auditId, request: request(), caller, code: 200, received: NOW, answered: NOW})
  }
  await log.flush()
}
await log.close()
process.stdout.write(JSON.stringify({codes, lost: log.lost}))
