import assert from 'node:assert/strict'
import {parseConfigFile} from '../../../src/control-plane/config/config-file.ts'

const HEAD = 'apiVersion: trustadm.io/v1alpha1\nkind: TrustadmConfiguration\n'
const HOUR = 3_600_000

const SIGNER = {
  name: 'example.com/services',
  certificate: 'services.crt',
  key: 'services.key',
  usages: ['digital signature', 'server auth'],
}

const read = (...signers: unknown[]) =>
  parseConfigFile(`${HEAD}signers: ${JSON.stringify(signers)}\n`, 'config.yaml').choices.signers

describe('the signers of a configuration', () => {
  it('permit no organizations and alternative names, and a year, unless they say more', () => {
    assert.deepEqual(read(SIGNER), [
      {
        ...SIGNER,
        organizations: [],
        names: [],
        maxValidityPeriod: 365 * 24 * HOUR,
        trustedFor: [],
      },
    ])
  })

  it('may have all their rules', () => {
    const rules = {
      commonName: '*.example.com',
      organizations: ['team-a'],
      names: ['dns', 'ips'],
      trustedFor: ['client'],
    }
    assert.deepEqual(read({...SIGNER, ...rules, maxValidityPeriod: '720h'}), [
      {...SIGNER, ...rules, maxValidityPeriod: 720 * HOUR},
    ])
  })

  const changes: [name: string, change: object, message: RegExp][] = [
    ['no domain', {name: 'services'}, /signers\[0\]\.name must be a domain and a name/],
    ['a domain of one word', {name: 'example/services'}, /must be a domain and a name/],
    ['a path of two parts', {name: 'example.com/a/b'}, /must be a domain and a name/],
    ['Kubernetes’ domain', {name: 'kubernetes.io/kubelet-serving'}, /which is Kubernetes'/],
    ['a domain below it', {name: 'x.kubernetes.io/y'}, /which is Kubernetes'/],
    ['its other domain', {name: 'k8s.io/y'}, /which is Kubernetes'/],
    ['no certificate', {certificate: undefined}, /signers\[0\]\.certificate is missing/],
    ['no key', {key: undefined}, /signers\[0\]\.key is missing/],
    ['no usages', {usages: undefined}, /signers\[0\]\.usages is missing/],
    ['an empty list of usages', {usages: []}, /signers\[0\]\.usages is empty/],
    ['a usage that there is not', {usages: ['levitation']}, /usages contains "levitation"/],
    ['the signing of certificates', {usages: ['cert sign']}, /never issue CA certificates/],
    ['names of an unknown kind', {names: ['rfc822']}, /names contains "rfc822"/],
    [
      'a purpose that there is not',
      {trustedFor: ['everything']},
      /trustedFor contains "everything"/,
    ],
    ['a pattern of two stars', {commonName: '*.*'}, /at most one "\*"/],
    ['no time', {maxValidityPeriod: 'long'}, /maxValidityPeriod must be a duration/],
    ['a field that there is not', {ca: true}, /unknown field TrustadmConfig.*signers\[0\]\.ca/],
  ]
  for (const [name, change, message] of changes) {
    it(`are refused with ${name}`, () => {
      assert.throws(() => read({...SIGNER, ...change}), {code: 'CONFIG_INVALID', message})
    })
  }

  it('are refused twice under one name, and in great number', () => {
    assert.throws(() => read(SIGNER, SIGNER), {message: /has "example\.com\/services" twice/})
    const many = Array.from({length: 65}, (_, index) => ({
      ...SIGNER,
      name: `example.com/s${index}`,
    }))
    assert.throws(() => read(...many), {message: /more than 64 signers/})
  })

  it('are refused where they are no list of maps', () => {
    assert.throws(() => parseConfigFile(`${HEAD}signers: 1\n`, 'c'), {message: /is not a list/})
    assert.throws(() => read('a'), {message: /signers\[0\] is not a map/})
  })
})
