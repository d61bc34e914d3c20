import assert from 'node:assert/strict'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {
  formatTrustReport,
  reportedCertificate,
  TRUST_REPORT,
  trustReportOf,
  type TrustReport,
} from '../../src/node/trust-report.ts'
import {issue, makeAuthority} from '../client/support/certificates.ts'

const nodeWith = (report: string) => ({
  metadata: {name: 'one', annotations: {[TRUST_REPORT]: report}},
})

const REPORT: TrustReport = {
  trusts: [`sha256:${'a'.repeat(64)}`],
  client: {
    serial: '1f',
    issuer: 'CN=kubernetes',
    issuerKeyId: 'ab12',
    notBefore: '2026-01-01T00:00:00Z',
    notAfter: '2027-01-01T00:00:00Z',
  },
  lastRenewal: '2026-01-01T00:05:00Z',
}

describe("a node's report of what it trusts", () => {
  it('is read as it was written', () => {
    const full = {...REPORT, kubeletClients: REPORT.trusts, serving: REPORT.client}
    assert.deepEqual(trustReportOf(nodeWith(formatTrustReport(full))), full)
  })

  it('is absent from a Node that has none', () => {
    assert.equal(trustReportOf({metadata: {name: 'one'}}), undefined)
  })

  it('names the CA of a certificate by its name and its key', async () => {
    const authority = await makeAuthority('kubernetes')
    const {certificate} = await issue(authority)
    const reported = reportedCertificate(parseCertificate(certificate))
    assert.equal(reported.issuer, 'CN=kubernetes')
    assert.equal(reported.issuerKeyId, parseCertificate(authority.pem).subjectKeyId)
  })

  const unreadable = {
    'is not JSON': '{',
    'is not an object': '"text"',
    'has no certificate': JSON.stringify({trusts: []}),
    'has a pin that is none': JSON.stringify({...REPORT, trusts: ['sha256:x']}),
    'has a pin of a caller that is none': JSON.stringify({...REPORT, kubeletClients: [7]}),
    'has too many pins': JSON.stringify({...REPORT, trusts: Array(65).fill(REPORT.trusts[0])}),
    'has a serial that is no number': JSON.stringify({
      ...REPORT,
      client: {...REPORT.client, serial: '\u001b[2J'},
    }),
    'has a time that is none': JSON.stringify({...REPORT, lastRenewal: 'yesterday'}),
    'is too long': ' '.repeat(17 * 1024) + formatTrustReport(REPORT),
  }
  for (const [what, text] of Object.entries(unreadable)) {
    it(`is ignored if it ${what}`, () => {
      assert.equal(trustReportOf(nodeWith(text)), undefined)
    })
  }
})
