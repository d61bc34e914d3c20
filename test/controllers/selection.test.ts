import assert from 'node:assert/strict'
import {EMBEDDED_CONTROLLERS, PORTABLE_CONTROLLERS} from '../../src/controllers/catalog.ts'
import {PERMISSIONS} from '../../src/controllers/permissions.ts'
import {selectControllers} from '../../src/controllers/selection.ts'

const ALL = Object.keys(PORTABLE_CONTROLLERS)
const select = (...list: string[]) => selectControllers(PORTABLE_CONTROLLERS, list)

describe('choosing controllers', () => {
  it('takes * for all', () => {
    assert.deepEqual(select('*'), ALL)
  })

  it('takes names, ours and those of kube-controller-manager', () => {
    assert.deepEqual(select('csrsigning', 'csr-approver'), ['csr-approver', 'csr-signer'])
    assert.deepEqual(select('certificatesigningrequest-cleaner-controller'), ['csr-cleaner'])
    assert.deepEqual(select('bootstrapsigner', 'tokencleaner'), [
      'bootstrap-signer',
      'token-cleaner',
    ])
  })

  it('leaves out what has a minus', () => {
    const left = ALL.filter((name) => name !== 'csr-signer')
    assert.deepEqual(select('*', '-csrsigning'), left)
    assert.deepEqual(select('-csr-signer', '*'), left)
  })

  it('goes by the first word about a controller', () => {
    assert.deepEqual(select('csr-signer', '-csrsigning'), ['csr-signer'])
    assert.deepEqual(select('csr-cleaner', '-csr-signer', 'csr-signer'), ['csr-cleaner'])
  })

  it('passes over spaces', () => {
    assert.deepEqual(select(' csr-signer', '', ' -csr-cleaner '), ['csr-signer'])
  })

  it('takes "none" for none, alone and only where a server can do without', () => {
    assert.deepEqual(selectControllers(EMBEDDED_CONTROLLERS, ['none'], {mayBeNone: true}), [])
    for (const list of [['none', '*'], ['none,csr-signer']])
      assert.throws(() => selectControllers(EMBEDDED_CONTROLLERS, list, {mayBeNone: true}))
    assert.throws(() => select('none'), {code: 'USAGE'})
  })

  for (const [name, list, said] of [
    ['a name that nobody has', ['*', 'csr-sinner'], /no controller "csr-sinner"/],
    ['a minus before a name that nobody has', ['*', '-csr-sinner'], /no controller "csr-sinner"/],
    ['names of what not to run alone', ['-csr-signer'], /names no controller/],
    ['nothing', [''], /names no controller/],
  ] as const) {
    it(`refuses ${name}, and lists what there is`, () => {
      assert.throws(
        () => select(...list),
        (error: Error & {code?: string; suggestions?: string[]}) =>
          error.code === 'USAGE' &&
          said.test(error.message) &&
          (error.suggestions?.join().includes(ALL.join(', ')) ?? false),
      )
    })
  }

  for (const [typed, meant] of [
    ['csr-sinner', 'csr-signer'],
    ['-bootstrap-singer', 'bootstrap-signer'],
    ['csrsining', 'csrsigning'],
  ] as const) {
    it(`suggests ${meant} for ${typed}`, () => {
      assert.throws(
        () => select('*', typed),
        (error: Error & {suggestions?: string[]}) =>
          error.suggestions?.[0] === `did you mean "${meant}"?`,
      )
    })
  }

  it('knows no name twice', () => {
    const names = Object.entries(EMBEDDED_CONTROLLERS).flatMap(([name, {aliases}]) => [
      name,
      ...aliases,
    ])
    assert.equal(new Set(names).size, names.length)
  })

  it('knows what every controller needs that runs against any cluster', () => {
    assert.deepEqual(Object.keys(PERMISSIONS).sort(), [...ALL].sort())
  })
})
