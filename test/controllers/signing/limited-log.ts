import {FileIssuanceLog} from '../../../src/controllers/signing/file-issuance-log.ts'
import type {Issuance} from '../../../src/controllers/signing/issuance.ts'
import {TrustError} from '../../../src/errors.ts'
import {systemClock} from '../../../src/runtime.ts'

/** Appends to a log for as long as it is let, and prints how many lines were and what the rest failed with. */
const [path = ''] = process.argv.slice(2)
const log = new FileIssuanceLog(path, systemClock)
const issuance = (request: string): Issuance => ({
  decision: 'issued',
  signer: 'kubernetes.io/kube-apiserver-client',
  request,
  uid: 'u',
  requester: 'ada',
  subject: 'x'.repeat(5000),
  names: {dns: [], ips: [], emails: [], uris: []},
})

let written = 0
const codes = new Set<string>()
for (let index = 0; index < 20; index += 1) {
  const pair = [`a${index}`, `b${index}`].map((name) => log.append(issuance(name)))
  for (const outcome of await Promise.allSettled(pair)) {
    if (outcome.status === 'fulfilled') written += 1
    else
      codes.add(outcome.reason instanceof TrustError ? outcome.reason.code : String(outcome.reason))
  }
}
await log.close()
process.stdout.write(JSON.stringify({written, codes: [...codes]}))
