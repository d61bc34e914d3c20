import assert from 'node:assert/strict'
import type {CertificateSigningRequest} from '../../src/api/certificates.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import {signRequests, type CsrSignerDeps} from '../../src/controllers/csr-signer.ts'
import type {Issuance} from '../../src/controllers/signing/issuance.ts'
import {findCondition} from '../../src/csr/conditions.ts'
import {TrustError} from '../../src/errors.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {pinOf} from '../../src/pki/pins.ts'
import {replaceable} from '../helpers/test-trust.ts'
import {
  DAY,
  HOUR,
  NOW,
  fixedClock,
  testAuthority,
  validAround,
  type TestAuthority,
} from '../pki/support.ts'
import {
  APPROVAL,
  CLIENT_USAGES,
  csrFor,
  pemOf,
  wellKnownSigners,
  type Wish,
} from './signing/support.ts'

const MINUTE = 60_000

function there<T>(value: T | undefined): T {
  assert.ok(value !== undefined)
  return value
}

describe('signing certificate requests', () => {
  let ca: TestAuthority
  let clock: ReturnType<typeof fixedClock>
  let stored: CertificateSigningRequest | undefined
  let seen: CertificateSigningRequest | undefined
  let writes: CertificateSigningRequest[]
  let issuances: Issuance[]
  let events: string[]
  let failures: TrustError[]
  let onRead: () => void
  let deps: CsrSignerDeps
  let objection: string | undefined
  const revoked = {objectionTo: () => Promise.resolve(objection)}

  before(async () => (ca = await testAuthority()))
  beforeEach(() => {
    clock = fixedClock()
    writes = []
    issuances = []
    events = []
    failures = []
    onRead = () => undefined
    objection = undefined
    deps = {
      signers: wellKnownSigners(ca.issuer, HOUR),
      issuances: {
        append: (issuance) => {
          events.push('logged')
          issuances.push(issuance)
          return Promise.resolve(undefined)
        },
      },
      checksSignatures: true,
    }
  })

  /** A request that stands in the cluster, as the copy has seen it. */
  const given = async (wish: Wish = {}, ...types: string[]) => {
    const csr = await csrFor(wish)
    const conditions = types.map((type) => ({...APPROVAL, type}))
    csr.metadata = {...csr.metadata, uid: 'u', resourceVersion: '1'}
    csr.spec.username = 'system:bootstrap:abcdef'
    stored = seen = {...csr, status: {conditions}}
  }

  const csrs = {
    find: () => {
      onRead()
      return Promise.resolve(stored)
    },
    updateStatus: (csr: CertificateSigningRequest) => {
      events.push('published')
      const failure = failures.shift()
      if (failure) return Promise.reject(failure)
      if (csr.metadata.resourceVersion !== stored?.metadata.resourceVersion) {
        return Promise.reject(new TrustError('CONFLICT', 'changed'))
      }
      writes.push(csr)
      stored = csr
      return Promise.resolve(csr)
    },
  } as unknown as ApiClient['csrs']

  const signer = () => {
    const reconcile = signRequests({find: () => Promise.resolve(seen)}, {csrs}, deps, {
      clock,
      revoked,
    })
    return () => reconcile('one', new AbortController().signal)
  }
  const failed = () => stored && findCondition(stored, 'Failed')

  it('signs what is approved, and writes the leaf alone', async () => {
    await given({}, 'Approved')
    assert.deepEqual(await signer()(), {})
    const [written] = writes
    assert.ok(written)
    const pem = pemOf(written)
    assert.equal(pem.match(/BEGIN/g)?.length, 1)
    const {subject, isAuthority, notAfter, extendedKeyUsages} = parseCertificate(pem)
    assert.equal(subject.commonName, 'system:node:one')
    assert.deepEqual(extendedKeyUsages, ['client auth'])
    assert.equal(isAuthority, false)
    assert.equal(notAfter.getTime(), NOW.getTime() + HOUR)
    assert.deepEqual(written.status?.conditions, [APPROVAL])
  })

  it('publishes the newest line of its log in the same write as the certificate', async () => {
    const head = `${'a'.repeat(64)}:1:${'b'.repeat(64)}:${'c'.repeat(32)}`
    deps.issuances = {append: () => Promise.resolve(head)}
    await given({}, 'Approved')
    await signer()()
    assert.equal(writes.length, 1)
    assert.equal(writes[0]?.metadata.annotations?.['trustadm.io/issuance-head'], head)
    assert.ok(writes[0]?.status?.certificate)
  })

  for (const [name, types] of [
    ['is not approved', []],
    ['is denied', ['Denied']],
    ['is approved and has failed', ['Approved', 'Failed']],
    ['is approved and denied', ['Approved', 'Denied']],
  ] as const) {
    it(`does nothing if a request ${name}`, async () => {
      await given({}, ...types)
      assert.deepEqual(await signer()(), {})
      assert.deepEqual(events, [])
    })
  }

  it('does nothing if there is a certificate already', async () => {
    await given({}, 'Approved')
    seen = {
      ...there(seen),
      status: {conditions: [APPROVAL], certificate: 'x'},
    }
    await signer()()
    assert.deepEqual(events, [])
  })

  for (const signerName of ['example.com/mine', 'kubernetes.io/kube-apiserver-clients']) {
    it(`leaves ${signerName} to its own signer`, async () => {
      await given({signerName}, 'Approved')
      await signer()()
      assert.deepEqual(events, [])
    })
  }

  it('rests where the request is gone', async () => {
    seen = undefined
    assert.deepEqual(await signer()(), {})
  })

  it('leaves a request alone whose signer has no CA here', async () => {
    await given({}, 'Approved')
    deps.signers = replaceable(new Map())
    assert.deepEqual(await signer()(), {})
    assert.deepEqual(events, [])
  })

  it('says by a condition why it never signs a request, and keeps those that are there', async () => {
    await given({usages: [...CLIENT_USAGES, 'server auth']}, 'Approved')
    await signer()()
    assert.equal(failed()?.status, 'True')
    assert.equal(failed()?.reason, 'SignerValidationFailure')
    assert.match(failed()?.message ?? '', /^kubernetes\.io\/kube-apiserver-client-kubelet does not/)
    assert.deepEqual(stored?.status?.conditions?.[0], APPROVAL)
    assert.equal(stored?.status?.certificate, undefined)
  })

  it('refuses what was approved just before a revocation, by reason Revoked', async () => {
    await given({}, 'Approved')
    objection = 'its key is revoked: stolen'
    await signer()()
    assert.equal(failed()?.reason, 'Revoked')
    assert.match(failed()?.message ?? '', /does not sign this request: its key is revoked: stolen$/)
    assert.equal(stored?.status?.certificate, undefined)
    assert.deepEqual([issuances.length, issuances[0]?.decision], [1, 'refused'])
  })

  it('does not publish a certificate that was signed before the revocation', async () => {
    await given({}, 'Approved')
    failures = [new TrustError('FORBIDDEN', 'the key of the request is revoked')]
    const reconcile = signer()
    await assert.rejects(reconcile(), {code: 'FORBIDDEN'})
    objection = 'its key is revoked'
    await reconcile()
    await reconcile()
    assert.equal(stored?.status?.certificate, undefined)
    assert.equal(failed()?.reason, 'Revoked')
    assert.deepEqual(
      issuances.map(({decision}) => decision),
      ['issued', 'refused'],
    )
  })

  it('has it on the log before it is published, issued or refused', async () => {
    await given({}, 'Approved')
    await signer()()
    assert.deepEqual(events, ['logged', 'published'])
    const certificate = parseCertificate(pemOf(there(writes[0])))
    assert.deepEqual(issuances, [
      {
        decision: 'issued',
        signer: 'kubernetes.io/kube-apiserver-client-kubelet',
        request: 'one',
        uid: 'u',
        requester: 'system:bootstrap:abcdef',
        approval: 'Test',
        subject: 'CN=system:node:one, O=system:nodes',
        commonName: 'system:node:one',
        names: {dns: [], ips: [], emails: [], uris: []},
        pin: pinOf(certificate),
        issuer: 'CN=test-ca',
        issuerFingerprint: ca.certificate.fingerprint,
        serial: certificate.serial,
        fingerprint: certificate.fingerprint,
        notBefore: certificate.notBefore.toISOString(),
        notAfter: certificate.notAfter.toISOString(),
      },
    ])
    await given({commonName: 'mike'}, 'Approved')
    await signer()()
    assert.equal(issuances[1]?.decision, 'refused')
    assert.match(issuances[1].reason ?? '', /the common name is "mike"/)
    assert.equal(issuances[1].serial, undefined)
  })

  it('logs the credential that the requester used', async () => {
    await given({}, 'Approved')
    const csr = there(stored)
    const extra = {'authentication.kubernetes.io/credential-id': ['X509SHA256=ab', 'more']}
    stored = {...csr, spec: {...csr.spec, extra}}
    seen = stored
    await signer()()
    assert.equal(issuances[0]?.credential, 'X509SHA256=ab')
  })

  it('publishes nothing that could not be logged, and tries again', async () => {
    await given({}, 'Approved')
    const {append} = deps.issuances
    const full = new TrustError('FILE_UNWRITABLE', 'the disk is full')
    deps.issuances = {append: () => Promise.reject(full)}
    await assert.rejects(signer()(), {code: 'FILE_UNWRITABLE'})
    assert.deepEqual(writes, [])
    deps.issuances = {append}
    await signer()()
    assert.equal(writes.length, 1)
  })

  it('throws where the CA has expired, without a condition or a line', async () => {
    const {issuer} = await testAuthority({
      validity: {notBefore: new Date(0), notAfter: new Date(NOW.getTime() - 1000)},
    })
    deps.signers = wellKnownSigners(issuer, HOUR)
    await given({}, 'Approved')
    await assert.rejects(signer()(), {code: 'SIGNER_EXPIRED'})
    assert.deepEqual(events, [])
  })

  it('throws where a usage is unknown, without a condition', async () => {
    await given({signerName: 'kubernetes.io/legacy-unknown', usages: ['levitation']}, 'Approved')
    await assert.rejects(signer()(), {message: /unrecognized usage: "levitation"/})
    assert.deepEqual(events, [])
  })

  it('signs no longer than the CA lasts', async () => {
    const {issuer} = await testAuthority({validity: validAround(NOW, 1)})
    deps.signers = wellKnownSigners(issuer, 365 * DAY)
    await given({}, 'Approved')
    await signer()()
    const {notAfter} = parseCertificate(pemOf(there(writes[0])))
    assert.deepEqual(notAfter, issuer.certificate.notAfter)
  })

  it('refuses a request whose signature is not by its key', async () => {
    await given({}, 'Approved')
    const {spec} = there(seen)
    const der = Buffer.from(
      Buffer.from(spec.request, 'base64')
        .toString()
        .replaceAll(/-----.*-----|\s/g, ''),
      'base64',
    )
    // The last byte of the signature.
    der[der.length - 1] = (der.at(-1) ?? 0) ^ 1
    const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`
    spec.request = Buffer.from(pem).toString('base64')
    await signer()()
    assert.match(failed()?.message ?? '', /signature .* does not match its public key/)
  })

  it('refuses what cannot be read', async () => {
    await given({}, 'Approved')
    const {spec} = there(seen)
    spec.request = Buffer.from('garbage').toString('base64')
    await signer()()
    assert.match(failed()?.message ?? '', /PEM block type must be CERTIFICATE REQUEST/)
  })

  it('refuses what others may read another request in', async () => {
    await given({}, 'Approved')
    const {spec} = there(seen)
    const pem = Buffer.from(spec.request, 'base64').toString()
    // Go takes the first block, and what its headers are; others pass over it.
    const odd = pem.replace('-----\n', '-----\na b: c\n\n')
    spec.request = Buffer.from(odd + pem).toString('base64')
    await signer()()
    assert.match(failed()?.message ?? '', /a single PEM block without headers/)
  })

  it('writes the very same certificate where the request was changed meanwhile', async () => {
    await given({}, 'Approved')
    stored = {
      ...there(stored),
      metadata: {name: 'one', uid: 'u', resourceVersion: '2'},
    }
    await signer()()
    assert.deepEqual(events, ['logged', 'published', 'published'])
    assert.equal(writes[0]?.metadata.resourceVersion, '2')
    const {fingerprint} = parseCertificate(pemOf(writes[0]))
    assert.equal(fingerprint, issuances[0]?.fingerprint)
  })

  for (const [name, change] of [
    ['was signed by another', {status: {conditions: [APPROVAL], certificate: 'another'}}],
    ['was made anew', {metadata: {name: 'one', uid: 'other', resourceVersion: '2'}}],
  ] as const) {
    it(`leaves a request alone that ${name} meanwhile`, async () => {
      await given({}, 'Approved')
      failures = [new TrustError('CONFLICT', 'changed')]
      const before = there(stored)
      onRead = () => (stored = {...before, ...change} as CertificateSigningRequest)
      await signer()()
      assert.deepEqual(writes, [])
    })
  }

  it('rests where the request is deleted meanwhile', async () => {
    await given({}, 'Approved')
    failures = [new TrustError('NOT_FOUND', 'gone')]
    assert.deepEqual(await signer()(), {})
  })

  it('signs once where its copy lags behind', async () => {
    await given({}, 'Approved')
    const reconcile = signer()
    await reconcile()
    await reconcile()
    assert.equal(issuances.length, 1)
    assert.equal(writes.length, 1)
  })

  it('signs a request of the same name that was made anew', async () => {
    await given({}, 'Approved')
    const reconcile = signer()
    await reconcile()
    await given({}, 'Approved')
    Object.assign(there(seen).metadata, {uid: 'other'})
    await reconcile()
    assert.equal(issuances.length, 2)
  })

  it('signs nothing while another process may lead, and looks again', async () => {
    await given({}, 'Approved')
    let leads = false
    deps.leads = () => leads
    const reconcile = signer()
    const {requeueAfter = 0} = await reconcile()
    assert.ok(requeueAfter > 0)
    assert.deepEqual(events, [])
    leads = true
    assert.deepEqual(await reconcile(), {})
    assert.deepEqual(events, ['logged', 'published'])
  })

  it('offers the same certificate when it leads again, instead of signing a second one', async () => {
    await given({}, 'Approved')
    deps.offers = new Map()
    failures = [new TrustError('SERVER_UNREACHABLE', 'down')]
    await assert.rejects(signer()(), {code: 'SERVER_UNREACHABLE'})
    await signer()()
    assert.equal(issuances.length, 1)
    const {fingerprint} = parseCertificate(pemOf(there(writes[0])))
    assert.equal(fingerprint, issuances[0]?.fingerprint)
  })

  it('keeps from an earlier lead only what may still be published', async () => {
    await given({}, 'Approved')
    deps.offers = new Map()
    await signer()()
    assert.equal(deps.offers.size, 1)
    signer()
    assert.equal(deps.offers.size, 0)
  })

  it('offers the same certificate again where it could not be written, and a new one only later', async () => {
    await given({}, 'Approved')
    const reconcile = signer()
    for (const wait of [0, MINUTE, 3 * MINUTE]) {
      clock.advance(wait)
      failures = [new TrustError('SERVER_UNREACHABLE', 'down')]
      await assert.rejects(reconcile(), {code: 'SERVER_UNREACHABLE'})
    }
    assert.equal(issuances.length, 1)
    clock.advance(2 * MINUTE)
    await reconcile()
    assert.equal(issuances.length, 2)
    const {fingerprint} = parseCertificate(pemOf(there(writes[0])))
    assert.equal(fingerprint, issuances[1]?.fingerprint)
  })
})
