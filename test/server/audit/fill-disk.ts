import {systemClock} from '../../../src/runtime.ts'
import {openAuditLog} from '../../../src/server/audit/audit-log.ts'
import {parseRequestInfo} from '../../../src/server/authz/request-info.ts'
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
    // Writes, of which all are listed.
    const path = '/api/v1/namespaces/default/configmaps'
    const info = parseRequestInfo('POST', path, new URLSearchParams())
    const made = request({method: 'POST', path})
    const parts = {request: made, info, caller, code: 201, hasWritten: true}
    log.record({auditId, ...parts, received: NOW, answered: NOW})
  }
  await log.flush()
}
await log.close()
process.stdout.write(JSON.stringify({codes, lost: log.lost}))
