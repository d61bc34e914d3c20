import assert from 'node:assert/strict'
import type {CertificateSigningRequest} from '../../../src/api/certificates.ts'
import {pendingNote} from '../../../src/enrollment/pending-note.ts'
import {AgentRecord} from '../../../src/node/agent/agent-state.ts'
import {ManagedCertificate} from '../../../src/node/agent/managed-certificate.ts'
import type {CertificateManager} from '../../../src/node/certificate-manager/certificate-manager.ts'
import {clientRequest} from '../../../src/node/client-certificate.ts'
import {generateKeys} from '../../../src/pki/keys.ts'
import {systemClock} from '../../../src/runtime.ts'
import {useFolder} from '../support.ts'

describe('a certificate that an agent keeps valid', () => {
  const folder = useFolder()

  it('is not shown as waiting after it was renewed', async () => {
    const {spec} = await clientRequest('one', await generateKeys())
    const csr = {metadata: {name: 'csr-late'}, spec} as CertificateSigningRequest
    const record = await AgentRecord.open(folder(), () => undefined)
    const manager = {
      renew: async () => {
        await Promise.resolve()
        managed.onPending(csr)
      },
    } as unknown as CertificateManager
    const managed: ManagedCertificate = new ManagedCertificate({
      kind: 'client',
      manager,
      record: {
        get state() {
          return record.state
        },
        change: (change) => {
          void record.change(change)
          return Promise.resolve()
        },
      } as AgentRecord,
      clock: systemClock,
      log: () => undefined,
      isRenewed: true,
      ca: () => undefined,
      onRotated: () => undefined,
    })
    await managed.renew(new AbortController().signal)
    // Takes as long as the note that began before it.
    for (let times = 0; times < 2; times += 1) await pendingNote(csr, {ca: undefined})
    await record.change((state) => state)
    assert.equal(record.state.client.pendingRequest, undefined)
    assert.ok(record.state.client.lastRenewal)
  })
})
