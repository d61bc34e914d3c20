import assert from 'node:assert/strict'
import {encoded as base64, selfSignedPem} from '../resources/certificates.ts'
import type {AnyBody} from '../support.ts'
import {BETA_CSRS, CSRS, condition, csrObject, encoded, useServer} from './support.ts'

const ENDPOINTS = {main: '', status: '/status', approval: '/approval'} as const
type Endpoint = keyof typeof ENDPOINTS

const changeOf = (verb: string, type: string) =>
  `status.conditions: Forbidden: updates may not ${verb} a condition of type "${type}"`
const EXCLUSIVE =
  'status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive'

describe('PUT of a CertificateSigningRequest', () => {
  const {api} = useServer()
  let certificate = ''
  let other = ''
  before(async () => {
    certificate = base64((await selfSignedPem()).certificate)
    other = base64((await selfSignedPem()).certificate)
  })

  /** A stored request with that status, however it must be brought about. */
  const stored = async (
    status: {conditions?: object[]; certificate?: string} = {},
    spec: object = {},
  ): Promise<AnyBody> => {
    const {metadata} = await api().make(BETA_CSRS, csrObject(spec))
    const path = `${BETA_CSRS}/${metadata.name}`
    const {conditions = [], certificate: issued} = status
    for (const one of conditions) {
      const now = (await api().get(path)).body
      const all = [...((now.status?.conditions ?? []) as object[]), one]
      await api().change(`${path}/approval`, {...now, status: {...now.status, conditions: all}})
    }
    if (issued !== undefined) {
      const now = (await api().get(path)).body
      await api().change(`${path}/status`, {...now, status: {...now.status, certificate: issued}})
    }
    return (await api().get(`${CSRS}/${metadata.name}`)).body
  }
  const put = (object: AnyBody, endpoint: Endpoint) =>
    api().put(`${CSRS}/${object.metadata.name}${ENDPOINTS[endpoint]}`, object)
  const anyRevision = (object: AnyBody): AnyBody => ({
    ...object,
    metadata: {...object.metadata, resourceVersion: ''},
  })
  const withoutTimes = (conditions: object[] = []) =>
    conditions.map((one) => {
      const {
        lastUpdateTime: _updated,
        lastTransitionTime: _since,
        ...rest
      } = one as Record<string, unknown>
      return rest
    })

  interface Row {
    before?: () => {conditions?: object[]; certificate?: string}
    sent: () => {conditions?: object[]; certificate?: string}
    /** What is refused; `kept`: nothing is, and the stored status stays; `done`: it is as sent. */
    says: Record<Endpoint, string[] | 'done' | 'kept'>
  }
  const added = (type: string, says: Row['says']): Row => ({
    sent: () => ({conditions: [condition(type)]}),
    says,
  })
  const removed = (type: string): Row => ({
    before: () => ({conditions: [condition(type)]}),
    sent: () => ({}),
    says: {
      main: 'kept',
      status: [changeOf('remove', type)],
      approval: [changeOf('remove', type)],
    },
  })
  /** Cases 01, B. What an endpoint is not for is restored before it is looked at, so that nothing is left to refuse. */
  const rows: Record<string, Row> = {
    'a new Approved condition': added('Approved', {
      main: 'kept',
      status: [changeOf('add', 'Approved')],
      approval: 'done',
    }),
    'a new Denied condition': added('Denied', {
      main: 'kept',
      status: [changeOf('add', 'Denied')],
      approval: 'done',
    }),
    'a new Failed condition': added('Failed', {main: 'kept', status: 'done', approval: 'done'}),
    'a new condition of its own type': added('Seen', {
      main: 'kept',
      status: 'done',
      approval: 'done',
    }),
    'a removed Approved condition': removed('Approved'),
    'a removed Denied condition': removed('Denied'),
    'a removed Failed condition': removed('Failed'),
    'a first certificate': {
      sent: () => ({certificate}),
      says: {main: 'kept', status: 'done', approval: 'kept'},
    },
    'another certificate': {
      before: () => ({certificate}),
      sent: () => ({certificate: other}),
      says: {
        main: 'kept',
        status: [
          'status.certificate: Forbidden: updates may not modify existing certificate content',
        ],
        approval: 'kept',
      },
    },
    'a removed certificate': {
      before: () => ({certificate}),
      sent: () => ({}),
      says: {
        main: 'kept',
        status: [
          'status.certificate: Forbidden: updates may not modify existing certificate content',
        ],
        approval: 'kept',
      },
    },
    'both decisions at once': {
      sent: () => ({conditions: [condition('Approved'), condition('Denied')]}),
      says: {
        main: 'kept',
        status: [EXCLUSIVE, changeOf('add', 'Approved'), changeOf('add', 'Denied')],
        approval: [EXCLUSIVE],
      },
    },
    'a denial after an approval': {
      before: () => ({conditions: [condition('Approved')]}),
      sent: () => ({conditions: [condition('Approved'), condition('Denied')]}),
      says: {main: 'kept', status: [EXCLUSIVE, changeOf('add', 'Denied')], approval: [EXCLUSIVE]},
    },
  }
  for (const [name, {before: status = () => ({}), sent, says}] of Object.entries(rows)) {
    for (const endpoint of Object.keys(ENDPOINTS) as Endpoint[]) {
      const verdict = says[endpoint]
      const verb = verdict === 'done' ? 'takes' : verdict === 'kept' ? 'passes over' : 'refuses'
      it(`${verb} ${name} at ${endpoint}`, async () => {
        const old = await stored(status())
        const answer = await put({...old, status: sent()}, endpoint)
        const now = (await api().get(`${CSRS}/${old.metadata.name}`)).body
        if (verdict === 'done') {
          assert.equal(answer.status, 200, answer.text)
          assert.deepEqual(
            {...now.status, conditions: withoutTimes(now.status.conditions as object[])},
            {conditions: [], ...sent()},
          )
          return
        }
        assert.deepEqual(now.status, old.status)
        if (verdict === 'kept') assert.equal(answer.status, 200, answer.text)
        else {
          assert.equal(answer.status, 422, answer.text)
          assert.deepEqual(answer.causes, verdict)
        }
      })
    }
  }

  for (const endpoint of Object.keys(ENDPOINTS) as Endpoint[]) {
    it(`takes what is there, unchanged, at ${endpoint}`, async () => {
      const old = await stored({conditions: [condition('Approved')], certificate})
      const answer = await put(old, endpoint)
      assert.equal(answer.status, 200, answer.text)
      assert.equal(answer.body.metadata.resourceVersion, old.metadata.resourceVersion)
    })

    const broken: Record<string, () => Promise<AnyBody>> = {
      'a stored certificate that is garbage': () => stored({certificate: encoded('garbage')}),
      'stored usages that nobody knows': () => stored({}, {usages: ['unknown', 'unknown']}),
      'a stored legacy signer': () => stored({}, {signerName: 'kubernetes.io/legacy-unknown'}),
      'stored conditions of the same type': () =>
        stored({conditions: [condition('Seen'), condition('Seen')]}),
    }
    for (const [name, make] of Object.entries(broken)) {
      it(`takes a finalizer off in spite of ${name} at ${endpoint}`, async () => {
        const made = await make()
        const finalizers = ['example.com/wait']
        const held = await put({...made, metadata: {...made.metadata, finalizers}}, 'main')
        assert.equal(held.status, 200, held.text)
        const {finalizers: _finalizers, ...metadata} = held.body.metadata
        const {status, body, text} = await put({...held.body, metadata}, endpoint)
        assert.equal(status, 200, text)
        assert.equal(body.metadata.finalizers, undefined)
      })
    }
  }

  it('keeps the spec, whatever is sent to whichever endpoint', async () => {
    const old = await stored()
    const spec = {...old.spec, signerName: 'other.com/x', usages: ['any'], username: 'eve'}
    for (const endpoint of Object.keys(ENDPOINTS) as Endpoint[]) {
      const {status, body} = await put({...anyRevision(old), spec}, endpoint)
      assert.equal(status, 200)
      assert.deepEqual(body.spec, old.spec)
    }
  })

  it('undoes at /status what was changed of a decision, and lets /approval change it', async () => {
    const old = await stored({conditions: [{...condition('Approved'), reason: 'first'}]})
    const status = {conditions: [{...condition('Approved'), reason: 'second'}]}
    const kept = await put({...old, status}, 'status')
    assert.equal(kept.status, 200, kept.text)
    assert.equal(kept.body.status.conditions[0].reason, 'first')
    const changed = await put({...anyRevision(old), status}, 'approval')
    assert.equal(changed.status, 200, changed.text)
    assert.equal(changed.body.status.conditions[0].reason, 'second')
  })

  it('gives a new condition the time of now, and leaves the times of others', async () => {
    const since = '2020-01-02T03:04:05Z'
    const approved = {...condition('Approved'), lastUpdateTime: since, lastTransitionTime: since}
    const old = await stored({conditions: [approved]})
    const conditions = [condition('Approved'), condition('Failed')]
    const {body} = await put({...old, status: {conditions}}, 'status')
    const [kept, failed] = body.status.conditions as Record<string, string>[]
    assert.deepEqual(kept, approved)
    assert.equal(failed?.lastTransitionTime, failed?.lastUpdateTime)
    assert.ok((failed?.lastUpdateTime ?? '') > '2026')
  })

  it('refuses a change of a revision that is gone', async () => {
    const old = await stored()
    await put({...old, status: {conditions: [condition('Approved')]}}, 'approval')
    const late = await put({...old, status: {conditions: [condition('Denied')]}}, 'approval')
    assert.equal(late.status, 409)
    assert.equal(late.body.reason, 'Conflict')
  })

  it('creates nothing', async () => {
    const object = csrObject()
    const {name} = object.metadata
    for (const suffix of Object.values(ENDPOINTS))
      assert.equal((await api().put(`${CSRS}/${name}${suffix}`, object)).status, 404)
  })

  describe('with a condition or a certificate that is', () => {
    const field = 'status.conditions[0]'
    const conditions: Record<string, {given: object[]; causes: string[]}> = {
      'without a type': {
        given: [condition('')],
        causes: [`${field}.type: Required value`],
      },
      'without a status': {
        given: [{type: 'Seen'}],
        causes: [`${field}.status: Required value`],
      },
      'of a status that there is not': {
        given: [condition('Seen', 'Maybe')],
        causes: [
          `${field}.status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"`,
        ],
      },
      'there twice': {
        given: [condition('Seen'), condition('Seen')],
        causes: ['status.conditions[1].type: Duplicate value: "Seen"'],
      },
      ...Object.fromEntries(
        ['Approved', 'Denied', 'Failed'].flatMap((type) =>
          ['False', 'Unknown'].map((status) => [
            `${type} and ${status}`,
            {
              given: [condition(type, status)],
              causes: [`${field}.status: Unsupported value: "${status}": supported values: "True"`],
            },
          ]),
        ),
      ),
    }
    for (const [name, {given, causes}] of Object.entries(conditions)) {
      it(`refuses one ${name}`, async () => {
        const old = await stored()
        const answer = await put({...old, status: {conditions: given}}, 'approval')
        assert.equal(answer.status, 422, answer.text)
        assert.deepEqual(answer.causes, causes)
      })
    }

    const block = (label: string, body: string) =>
      `-----BEGIN ${label}-----\n${body}-----END ${label}-----\n`
    const certificates: Record<string, [text: () => string, why: RegExp]> = {
      'no PEM': [() => 'hello', /must contain at least one CERTIFICATE PEM block$/],
      'of another label': [
        () => block('CERTIFICATE1', 'aGk=\n'),
        /only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE1"$/,
      ],
      'a key behind a certificate': [
        () =>
          `${Buffer.from(certificate, 'base64').toString()}${block('RSA PRIVATE KEY', 'aGk=\n')}`,
        /only CERTIFICATE PEM blocks are allowed, found "RSA PRIVATE KEY"$/,
      ],
      'with headers': [
        () => block('CERTIFICATE', 'A: b\n\naGk=\n'),
        /no PEM block headers are permitted$/,
      ],
      'not base64': [
        () => block('CERTIFICATE', '!!!\n'),
        /must contain at least one CERTIFICATE PEM block$/,
      ],
      empty: [
        () => block('CERTIFICATE', ''),
        /found CERTIFICATE PEM block containing 0 certificates$/,
      ],
      'not ASN.1': [() => block('CERTIFICATE', 'aGk=\n'), /"<certificate data>": .+$/],
    }
    for (const [name, [text, why]] of Object.entries(certificates)) {
      it(`refuses one that is ${name}`, async () => {
        const old = await stored({conditions: [condition('Approved')]})
        const status = {...old.status, certificate: encoded(text())}
        const answer = await put({...old, status}, 'status')
        assert.equal(answer.status, 422, answer.text)
        assert.match(answer.causes.join(), /^status\.certificate: Invalid value: /)
        assert.match(answer.causes.join(), why)
      })
    }

    it('takes a certificate with text around it, and a chain', async () => {
      const old = await stored({conditions: [condition('Approved')]})
      const pem = Buffer.from(certificate, 'base64').toString()
      const chain = encoded(`issued for a test\n${pem}and its CA\n${pem}`)
      const {status, body} = await put(
        {...old, status: {...old.status, certificate: chain}},
        'status',
      )
      assert.equal(status, 200)
      assert.equal(body.status.certificate, chain)
    })
  })
})
