import assert from 'node:assert/strict'
import {eventForm, type Presentation, warningHeaders} from '../../../src/server/registry/present.ts'
import {certificateSigningRequests as resource} from '../../../src/server/resources/certificate-signing-requests.ts'

const presentation = (version: string): Presentation => ({
  resource,
  version,
  representation: {as: 'object'},
  include: 'Metadata',
  now: () => new Date(0),
})

describe('the form of events', () => {
  it('is shared by all watches for the objects of one served version', () => {
    assert.equal(eventForm(presentation('v1')), eventForm(presentation('v1')))
  })

  it('names the served version, whichever was watched first', () => {
    const versionIn = (version: string) =>
      /"apiVersion":"([^"]+)"/.exec(eventForm(presentation(version)).bookmark(7, false))?.[1]
    assert.equal(versionIn('v1'), 'certificates.k8s.io/v1')
    assert.equal(versionIn('v1beta1'), 'certificates.k8s.io/v1beta1')
  })
})

describe('warnings of an answer', () => {
  it('are headers that any client can read', () => {
    assert.deepEqual(warningHeaders(['unknown field "a\n"']), ['299 - "unknown field \\"a?\\""'])
  })

  it('are cut once they would make the headers long, however many fields are unknown', () => {
    const headers = warningHeaders(Array.from({length: 100}, () => 'x'.repeat(1_000_000)))
    assert.equal(headers.length, 16)
    assert.ok(headers.join('').length < 5000)
  })
})
