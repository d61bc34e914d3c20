import assert from 'node:assert/strict'
import {TrustError} from '../src/errors.ts'
import {
  checkPhase,
  planPhases,
  requireChecks,
  requirePhaseName,
  runPhases,
  type Check,
  type Phase,
} from '../src/phases.ts'

interface Context {
  lines: string[]
  tell: (line: string) => void
}

function contextOf(): Context {
  const lines: string[] = []
  return {lines, tell: (line) => void lines.push(line)}
}

const phase = (name: string, ...changes: string[]): Phase<Context> => ({
  name,
  summary: `does ${name}`,
  plan: () => Promise.resolve(changes),
  run: ({tell}) => Promise.resolve(tell(name)),
})
const broken: Phase<Context> = {
  ...phase('broken'),
  run: () => Promise.reject(new TrustError('INVALID', 'no')),
}
const problem = (name: string): Check<Context> => ({
  name,
  run: () => {
    throw new TrustError('INVALID', `${name} is wrong`, {hints: ['repair it']})
  },
})

describe('phases', () => {
  it('run in their order, and the observer sees each begin and end', async () => {
    const context = contextOf()
    const begin = ({name}: {name: string}) => context.tell(`+${name}`)
    const end = ({name}: {name: string}) => context.tell(`-${name}`)
    await runPhases([phase('one'), phase('two')], context, {begin, end})
    assert.deepEqual(context.lines, ['+one', 'one', '-one', '+two', 'two', '-two'])
  })

  it('stop at the first that fails, which does not end', async () => {
    const context = contextOf()
    const observer = {begin: () => undefined, end: () => context.tell('end')}
    const running = runPhases([broken, phase('two')], context, observer)
    await assert.rejects(running, {code: 'INVALID'})
    assert.deepEqual(context.lines, [])
  })

  it('plan what they would change, and change nothing', async () => {
    const context = contextOf()
    assert.deepEqual(await planPhases([phase('one', 'a', 'b'), phase('two')], context), [
      {phase: 'one', change: 'a'},
      {phase: 'one', change: 'b'},
    ])
    assert.deepEqual(context.lines, [])
  })

  it('are known by their names', () => {
    assert.equal(requirePhaseName('two', ['one', 'two']), 'two')
    assert.throws(() => requirePhaseName('three', ['one', 'two']), {
      code: 'USAGE',
      suggestions: ['the phases are one, two'],
    })
    assert.throws(() => requirePhaseName('cert', ['certs', 'rbac']), {
      suggestions: ['did you mean "certs"?', 'the phases are certs, rbac'],
    })
  })
})

describe('a phase that only checks', () => {
  const checking = (...checks: Check<Context>[]) =>
    checkPhase({
      name: 'preflight',
      summary: 'checks',
      passed: 'all is well',
      check: (context: Context) => requireChecks(checks, context, {warn: context.tell}),
    })

  it('says so if all is well, and plans nothing', async () => {
    const context = contextOf()
    const good = checking({run: () => undefined})
    assert.deepEqual(await good.plan(context), [])
    assert.deepEqual(context.lines, [])
    await good.run(context)
    assert.deepEqual(context.lines, ['all is well'])
  })

  it('fails in a dry run too, with the error of the check', async () => {
    const bad = checking(problem('Clock'))
    const expected = {code: 'INVALID', message: 'Clock is wrong'}
    await assert.rejects(bad.plan(contextOf()), expected)
    await assert.rejects(bad.run(contextOf()), expected)
  })

  it('reports everything that is wrong at once, and each hint once', async () => {
    const bad = checking(problem('Clock'), problem('Folder'))
    await assert.rejects(bad.run(contextOf()), {
      code: 'PREFLIGHT_FAILED',
      message: 'this machine is not ready: Clock is wrong; Folder is wrong',
      suggestions: ['repair it'],
    })
  })

  it('hides no fault of its own', async () => {
    const fault = new Error('a fault')
    await assert.rejects(checking({run: () => Promise.reject(fault)}).run(contextOf()), fault)
  })

  for (const ignored of ['all', 'clock']) {
    it(`only warns of a check that is ignored by "${ignored}"`, async () => {
      const {lines, tell: warn} = contextOf()
      await requireChecks([problem('Clock')], contextOf(), {ignored: [ignored], warn})
      assert.deepEqual(lines, ['Clock is wrong (ignored)'])
    })
  }

  it('cannot ignore a check without a name', async () => {
    const {run} = problem('Clock')
    const checked = requireChecks([{run}], contextOf(), {ignored: ['all'], warn: () => undefined})
    await assert.rejects(checked, {code: 'INVALID'})
  })
})
