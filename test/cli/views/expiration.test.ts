import assert from 'node:assert/strict'
import {formatExpiration} from '../../../src/cli/views/expiration.ts'
import type {ExpirationReport} from '../../../src/control-plane/expiration.ts'

const DAY = 86_400
// eslint-disable-next-line no-control-regex -- what turns red begins with one
const RED = /(?<=\u001B\[31m)[^\u001B ]+/g

type Leaf = ExpirationReport['certificates'][number]
type Authority = ExpirationReport['certificateAuthorities'][number]

const certificate = {
  location: '/var/lib/trustadm/pki/apiserver.crt',
  expirationDate: '2027-11-16T02:57:00.000Z',
  residualSeconds: 364 * DAY,
  current: true,
  pin: `sha256:${'a'.repeat(64)}`,
  serial: '17',
  externallyManaged: false,
  problems: [],
  warnings: [],
}
const leaf = (more: Partial<Leaf> = {}): Leaf => ({
  ...certificate,
  name: 'apiserver-kubelet-client',
  certificateAuthority: 'front-proxy-ca',
  ...more,
})
const authority = (more: Partial<Authority> = {}): Authority => ({
  ...certificate,
  name: 'kubelet-serving-ca',
  signs: true,
  ...more,
})

describe('the tables of certificates', () => {
  it('show every CA of a file, what each is for, and where its key is', () => {
    const text = formatExpiration({
      certificates: [leaf({residualSeconds: -DAY, current: false}), leaf({name: 'apiserver'})],
      certificateAuthorities: [
        authority({residualSeconds: 9 * 365 * DAY}),
        authority({signs: false, current: false}),
        authority({externallyManaged: true}),
      ],
    })
    assert.equal(
      text,
      [
        'CERTIFICATE                EXPIRES                  LEFT      CA',
        'apiserver-kubelet-client   Nov 16, 2027 02:57 UTC   expired   front-proxy-ca',
        'apiserver                  Nov 16, 2027 02:57 UTC   364d      front-proxy-ca',
        '',
        'CA                   EXPIRES                  LEFT      USE       KEY',
        'kubelet-serving-ca   Nov 16, 2027 02:57 UTC   9y        signs     here',
        'kubelet-serving-ca   Nov 16, 2027 02:57 UTC   not yet   trusted',
        'kubelet-serving-ca   Nov 16, 2027 02:57 UTC   364d      signs     external',
        '',
      ].join('\n'),
    )
    assert.ok(text.split('\n').every((line) => line.length <= 80))
  })

  it('are red where something has expired, on a terminal with colours', () => {
    const {isTTY} = process.stdout
    const {CI, NO_COLOR, TERM} = process.env
    try {
      Object.assign(process.stdout, {isTTY: true})
      Object.assign(process.env, {CI: '', NO_COLOR: '', TERM: 'xterm'})
      const expired = leaf({residualSeconds: -DAY, current: false})
      const text = formatExpiration({
        certificates: [expired, leaf()],
        certificateAuthorities: [authority()],
      })
      assert.deepEqual(text.match(RED), ['expired'])
    } finally {
      Object.assign(process.stdout, {isTTY})
      for (const [name, value] of Object.entries({CI, NO_COLOR, TERM})) {
        if (value === undefined) Reflect.deleteProperty(process.env, name)
        else process.env[name] = value
      }
    }
  })

  it('say below them what is wrong or will be', () => {
    const text = formatExpiration({
      certificates: [leaf({problems: ['it is missing'], expirationDate: null, current: null})],
      certificateAuthorities: [authority({warnings: ['it ends soon']})],
    })
    assert.match(
      text,
      /\n\n! kubelet-serving-ca: it ends soon\n! apiserver-kubelet-client: it is m/,
    )
  })

  it('say when the CAs were last rotated, in whole seconds', () => {
    const text = formatExpiration({
      certificates: [leaf()],
      certificateAuthorities: [authority()],
      rotation: {phase: 'Completed', lastCompletion: '2026-01-17T17:07:43.671Z'},
    })
    assert.match(text, /\nRotation of the CAs: last completed 2026-01-17T17:07:43Z\n/)
  })
})
