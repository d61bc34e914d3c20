import assert from 'node:assert/strict'
import type {CertificateSigningRequest} from '../../src/api/certificates.ts'
import {pendingNote} from '../../src/enrollment/pending-note.ts'

describe('the note about a request that waits', () => {
  it('is there even if the request cannot be read', async () => {
    const csr = {metadata: {name: 'csr-odd'}} as CertificateSigningRequest
    const note = await pendingNote(csr, {ca: undefined})
    assert.match(note, /trustadm certificate approve csr-odd/)
    assert.match(note, /pairing words: <unreadable>$/)
  })
})
