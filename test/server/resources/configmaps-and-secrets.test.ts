import assert from 'node:assert/strict'
import {generateKeyPairSync} from 'node:crypto'

import {contextOf, createErrors, created, texts, updated} from './support.ts'
import {selfSignedPem} from './certificates.ts'

const KIB = 1024

describe('ConfigMap', () => {
  it('may be empty', () => {
    assert.deepEqual(createErrors('configmaps', {}), [])
  })

  it('refuses wrong keys, repeated keys and too much data', () => {
    const big = {data: {a: 'x'.repeat(1024 * KIB + 1)}}
    assert.deepEqual(texts(createErrors('configmaps', big)), [
      ': Too long: may not be more than 1048576 bytes',
    ])
    const twice = {data: {a: ''}, binaryData: {a: ''}}
    assert.deepEqual(texts(createErrors('configmaps', twice)), [
      'data[a]: Invalid value: "a": duplicate of key present in binaryData',
    ])
    const wrong = texts(createErrors('configmaps', {binaryData: {'a/b': ''}}))
    assert.match(wrong.join(), /^binaryData\[a\/b\]: Invalid value: "a\/b": a valid config key/)
  })

  it('is frozen once it is immutable', () => {
    const old = created('configmaps', {data: {a: '1'}, immutable: true})
    const {errors} = updated('configmaps', old, {data: {a: '2'}})
    assert.deepEqual(texts(errors), [
      'immutable: Forbidden: field is immutable when `immutable` is set',
      'data: Forbidden: field is immutable when `immutable` is set',
    ])
  })

  it('may become immutable', () => {
    const old = created('configmaps', {data: {a: '1'}})
    assert.deepEqual(updated('configmaps', old, {data: {a: '2'}, immutable: true}).errors, [])
  })
})

describe('Secret', () => {
  it('is Opaque where it does not say', () => {
    assert.equal(created('secrets', {}).type, 'Opaque')
  })

  it('takes stringData over data, and keeps no stringData', () => {
    const secret = created('secrets', {data: {a: 'eA==', b: 'eQ=='}, stringData: {a: 'b'}})
    assert.deepEqual(secret.data, {a: 'Yg==', b: 'eQ=='})
    assert.equal('stringData' in secret, false)
  })

  const refusals: [type: string, data: Record<string, string>, errors: string[]][] = [
    ['kubernetes.io/tls', {}, ['data[tls.crt]: Required value', 'data[tls.key]: Required value']],
    [
      'kubernetes.io/service-account-token',
      {},
      ['metadata.annotations[kubernetes.io/service-account.name]: Required value'],
    ],
    [
      'kubernetes.io/basic-auth',
      {},
      ['data[username]: Required value', 'data[password]: Required value'],
    ],
    ['kubernetes.io/ssh-auth', {}, ['data[ssh-privatekey]: Required value']],
    ['kubernetes.io/dockercfg', {}, ['data[.dockercfg]: Required value']],
    [
      'kubernetes.io/dockerconfigjson',
      {'.dockerconfigjson': 'eA=='},
      [
        `data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character 'x' looking for beginning of value`,
      ],
    ],
    [
      'kubernetes.io/dockercfg',
      {'.dockercfg': 'W10='},
      [
        'data[.dockercfg]: Invalid value: "<secret contents redacted>": json: cannot unmarshal array into Go value of type map[string]interface {}',
      ],
    ],
    ['bootstrap.kubernetes.io/token', {}, []],
    ['constructor', {}, []],
  ]
  for (const [type, data, errors] of refusals) {
    it(`${errors.length === 0 ? 'takes' : 'refuses'} type ${type} with the keys [${Object.keys(data).join()}]`, () => {
      assert.deepEqual(texts(createErrors('secrets', {type, data})), errors)
    })
  }

  it('keeps its type', () => {
    const {errors} = updated('secrets', created('secrets', {}), {type: 'other'})
    assert.deepEqual(texts(errors), ['type: Invalid value: "other": field is immutable'])
  })

  it('is frozen once it is immutable', () => {
    const old = created('secrets', {immutable: true, stringData: {a: 'b'}})
    const {errors} = updated('secrets', old, {immutable: true, stringData: {a: 'c'}})
    assert.deepEqual(texts(errors), ['data: Forbidden: field is immutable when `immutable` is set'])
  })

  it('warns of a certificate that does not fit its key, and of nothing else', async () => {
    const {privateKey} = generateKeyPairSync('ec', {namedCurve: 'P-256'})
    const own = await selfSignedPem()
    const other = privateKey.export({type: 'pkcs8', format: 'pem'}).toString()
    const encoded = (text: string) => Buffer.from(text).toString('base64')
    for (const [key, expected] of [
      [own.key, []],
      [other, ['tls: private key does not match public key']],
    ] as const) {
      const warnings: string[] = []
      const data = {'tls.crt': encoded(own.certificate), 'tls.key': encoded(key)}
      createErrors('secrets', {type: 'kubernetes.io/tls', data}, contextOf({}, warnings))
      assert.deepEqual(warnings, expected)
    }
  })
})
