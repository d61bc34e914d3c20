import assert from 'node:assert/strict'
import {chooseNewer, satisfies} from '../../../src/node/certificate-manager/pair.ts'
import {requestTimeout} from '../../../src/node/certificate-manager/request-certificate.ts'
import {
  DEFAULT_WINDOW,
  drawFor,
  formatRotationWindow,
  parseRotationWindow,
  rotationDeadline,
  validityAt,
} from '../../../src/node/certificate-manager/rotation-deadline.ts'
import {clientCertificate, isOwnCertificate} from '../../../src/node/client-certificate.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {NO_NAMES} from '../../../src/pki/subject-names.ts'
import {DAY, issue, makeAuthority} from '../../client/support/certificates.ts'

const NOW = new Date('2026-06-01T00:00:00Z')
const HOUR = 3_600_000
const SECOND = 1000
const MONTH = 30 * DAY

/** A certificate that was issued some time ago. */
const aged = (age: number, lifetime: number) => ({
  notBefore: new Date(NOW.getTime() - age),
  notAfter: new Date(NOW.getTime() - age + lifetime),
})

describe('the deadline of a certificate', () => {
  const table: [string, number, number, 'now' | 'later'][] = [
    ['1 of 100 hours', HOUR, 100 * HOUR, 'later'],
    ['24 of 48 hours', 24 * HOUR, 48 * HOUR, 'later'],
    ['69 of 100 hours', 69 * HOUR, 100 * HOUR, 'later'],
    ['91 of 100 hours', 91 * HOUR, 100 * HOUR, 'now'],
    ['99 of 100 hours', 99 * HOUR, 100 * HOUR, 'now'],
    ['101 of 100 hours', 101 * HOUR, 100 * HOUR, 'now'],
    ['6 of 12 months', 6 * MONTH, 12 * MONTH, 'later'],
    ['30 of 60 seconds', 30 * SECOND, 60 * SECOND, 'later'],
  ]
  for (const [what, age, lifetime, expected] of table) {
    it(`after ${what} of its life has come: ${expected}`, () => {
      const deadline = rotationDeadline(aged(age, lifetime), DEFAULT_WINDOW, 0)
      assert.equal(deadline.getTime() - NOW.getTime(), (7 * lifetime) / 10 - age)
      assert.equal(deadline <= NOW ? 'now' : 'later', expected)
    })
  }

  it('lies between 70 and 90 percent of its life', () => {
    const certificate = aged(0, 100 * HOUR)
    const at = (draw: number) =>
      (rotationDeadline(certificate, DEFAULT_WINDOW, draw).getTime() - NOW.getTime()) / HOUR
    assert.deepEqual([at(0), at(0.5), at(1)], [70, 80, 90])
  })

  it('is drawn once for each certificate, evenly', async () => {
    const authority = await makeAuthority()
    const certificate = parseCertificate((await issue(authority)).certificate)
    assert.equal(drawFor(certificate), drawFor(certificate))
    assert.equal(drawFor({fingerprint: '0'.repeat(64)}), 0)
    assert.equal(drawFor({fingerprint: `8${'0'.repeat(63)}`}), 0.5)
    assert.ok(drawFor({fingerprint: 'f'.repeat(64)}) < 1)
  })

  it('can be configured', () => {
    const window = parseRotationWindow('0.5-.6', '--rotate-at')
    assert.deepEqual(window, {from: 0.5, to: 0.6})
    assert.equal(formatRotationWindow(window), '0.5-0.6')
  })

  for (const text of ['0.9-0.7', '0-0.5', '1.2-1.3', '70-90', '0.7', '', '0.7-0.9x']) {
    it(`cannot be configured as "${text}"`, () => {
      assert.throws(() => parseRotationWindow(text, '--rotate-at'), {
        code: 'USAGE',
        message: '--rotate-at is not a valid range',
      })
    })
  }
})

describe('the wait for one request', () => {
  const table: [string, number | undefined, number][] = [
    ['15 minutes without a certificate', undefined, 900],
    ['15 minutes for one that is valid for days', 48 * 3600, 900],
    ['a quarter of what a short one has left', 180, 45],
    ['at least 10 seconds', 1, 10],
    ['15 minutes for one that has expired', -1, 900],
  ]
  for (const [what, left, expected] of table) {
    it(`is ${what}`, () => {
      const current =
        left === undefined
          ? undefined
          : {certificate: {notAfter: new Date(NOW.getTime() + left * SECOND)}}
      assert.equal(requestTimeout(current, NOW), expected * SECOND)
    })
  }
})

describe('the validity of a certificate', () => {
  it('begins and ends', () => {
    assert.equal(validityAt(aged(-1, HOUR), NOW), 'not yet valid')
    assert.equal(validityAt(aged(0, HOUR), NOW), 'valid')
    assert.equal(validityAt(aged(HOUR, HOUR), NOW), 'expired')
  })
})

describe('a certificate satisfies what is wanted', () => {
  const base = {commonName: 'system:node:a', organizations: ['system:nodes'], dns: ['a'], ips: []}
  interface Parts {
    commonName: string
    organizations: string[]
    dns: string[]
    ips: string[]
  }
  const of = ({commonName, organizations, dns, ips}: Parts) => ({
    subject: {commonName, organizations, attributes: [], der: Buffer.alloc(0)},
    names: {...NO_NAMES, dns, ips},
  })
  const table: [string, Partial<Parts>, Partial<Parts>, boolean][] = [
    ['if both are equal', {}, {}, true],
    ['unless the common name differs', {commonName: 'system:node:b'}, {}, false],
    ['unless an organization is missing', {organizations: []}, {}, false],
    ['also with one more organization', {organizations: ['system:nodes', 'more']}, {}, true],
    ['unless a DNS name is missing', {dns: []}, {}, false],
    ['also with one more DNS name', {dns: ['a', 'b']}, {}, true],
    ['unless an address is missing', {}, {ips: ['192.0.2.1']}, false],
    ['also with one more address', {ips: ['192.0.2.1', '192.0.2.2']}, {ips: ['192.0.2.1']}, true],
  ]
  for (const [what, held, wanted, expected] of table) {
    it(what, () => {
      assert.equal(satisfies(of({...base, ...held}), of({...base, ...wanted})), expected)
    })
  }
})

describe('the choice between a managed pair and the one in a kubeconfig', () => {
  const pair = (name: string, age: number, lifetime = 100 * HOUR) => ({
    name,
    certificate: aged(age, lifetime),
  })
  const chosen = (managed?: ReturnType<typeof pair>, given?: ReturnType<typeof pair>) =>
    chooseNewer(managed, given, NOW)?.name

  it('is the only one there is', () => {
    assert.equal(chosen(), undefined)
    assert.equal(chosen(pair('managed', HOUR)), 'managed')
    assert.equal(chosen(undefined, pair('given', HOUR)), 'given')
  })
  // How old each one is, and how long it lives, in hours.
  const table: [string, [number, number], [number, number], 'managed' | 'given'][] = [
    ['both are valid, and the managed one is newer', [1, 100], [2, 100], 'managed'],
    ['both are valid and of the same age', [1, 100], [1, 100], 'managed'],
    ['both are valid, and the given one is newer', [2, 100], [1, 100], 'given'],
    ['the managed one is newer, but has expired', [2, 1], [3, 100], 'given'],
    ['the given one is newer, but has expired', [3, 100], [2, 1], 'managed'],
    ['both have expired, and the managed one is newer', [4, 1], [5, 1], 'managed'],
    ['both have expired, and the given one is newer', [5, 1], [4, 1], 'given'],
  ]
  for (const [when, managed, given, expected] of table) {
    it(`is the ${expected} one if ${when}`, () => {
      const of = (name: string, [age, lifetime]: [number, number]) =>
        pair(name, age * HOUR, lifetime * HOUR)
      assert.equal(chosen(of('managed', managed), of('given', given)), expected)
    })
  }
})

describe("a node's own certificate", () => {
  const of = (commonName: string, organizations: readonly string[]) => ({
    subject: {commonName, organizations: [...organizations], attributes: [], der: Buffer.alloc(0)},
  })
  const {subject} = clientCertificate('a')

  it('has its user and its group, and no others', () => {
    assert.equal(isOwnCertificate(of(subject.commonName, subject.organizations), 'a'), true)
  })
  const others: [string, string, string[]][] = [
    ['of another node', 'system:node:b', ['system:nodes']],
    ['of a bootstrapper', 'system:serviceaccount:kube-system:node-bootstrapper', []],
    ['with more groups', 'system:node:a', ['system:nodes', 'system:masters']],
    ['without a group', 'system:node:a', []],
  ]
  for (const [what, commonName, organizations] of others) {
    it(`is not one ${what}: that is a bootstrap credential`, () => {
      assert.equal(isOwnCertificate(of(commonName, organizations), 'a'), false)
    })
  }
})
