import assert from 'node:assert/strict'
import {failureOf, reportError} from '../../src/cli/report-error.ts'
import {TrustError} from '../../src/errors.ts'
import {captured} from './capture.ts'

describe('failureOf', () => {
  it('takes code, hints and exit code from a TrustError', () => {
    const error = new TrustError('PORT_IN_USE', 'taken', {hints: ['choose another']})
    assert.deepEqual(failureOf(error), {
      code: 'PORT_IN_USE',
      message: 'taken',
      hints: ['choose another'],
      exit: 6,
    })
  })

  it('ends with 130 where a question was answered by Ctrl-C', () => {
    const error = Object.assign(new Error('force closed'), {name: 'ExitPromptError'})
    assert.equal(failureOf(error).exit, 130)
  })

  it('calls everything else internal', () => {
    assert.equal(failureOf(new RangeError('odd')).code, 'INTERNAL')
  })
})

describe('a token in the wrong place of a command line', () => {
  const TOKEN = 'abcdef.u7zq2m9x4c6b1n8w'
  const misplaced: [string, string][] = [
    ['a token', TOKEN],
    ['a token with a letter too many', `${TOKEN}x`],
    ['a token with a letter too few', TOKEN.slice(0, -1)],
    ['a token with a colon for its dot', TOKEN.replace('.', ':')],
    ['a token in capitals', TOKEN.toUpperCase()],
    ['the secret of a token', TOKEN.slice(7)],
    ['a path that ends with a token', `/etc/${TOKEN}`],
    ['a token of letters alone', 'abcdef.abcdefghijklmnop'],
  ]
  for (const [name, word] of misplaced) {
    it(`is not repeated: ${name}`, async () => {
      const error = new TrustError('FILE_UNREADABLE', `cannot read /home/ada/${word}: no file`, {
        hints: [`look at ${word}`],
        cause: new Error(word),
      })
      for (const flags of [[], ['--verbose'], ['--output', 'json']]) {
        const argv = ['join', '--token-file', word, ...flags]
        const {stderr} = await captured(() => reportError(error, argv))
        const secret = word.slice(-16)
        assert.ok(!stderr.includes(secret), stderr)
        assert.match(stderr, /cannot read .*…/)
      }
    })
  }

  it('does not hide the names of files, hosts, nodes and hashes', async () => {
    const words = [
      ...['/etc/kubernetes/admin.conf', 'cluster.kubeconfig', 'worker-1.example.com'],
      ...['node-csr-3Q2dX9aB', '0f8fad5b-d9cb-469f-a165-70867728950e', 'ab'.repeat(32)],
    ]
    for (const word of words) {
      const error = new TrustError('NOT_FOUND', `there is no ${word}`)
      const {stderr} = await captured(() => reportError(error, ['show', word]))
      assert.ok(stderr.includes(word), stderr)
    }
  })
})

describe('reportError', () => {
  const error = new TrustError('INVALID', 'it is wrong', {hints: ['one', 'two']})

  it('writes the message and every hint to the standard error, and nothing to the standard output', async () => {
    const {stdout, stderr, result} = await captured(() => reportError(error, ['init']))
    assert.equal(stdout, '')
    assert.equal(stderr, 'Error: it is wrong\nTry this:\n  • one\n  • two\n')
    assert.equal(result, 1)
  })

  it('does not call it an error that somebody stopped a question', async () => {
    const stopped = Object.assign(new Error('User force closed'), {name: 'ExitPromptError'})
    const {stderr, result} = await captured(() => reportError(stopped, []))
    assert.equal(stderr, 'Stopped\n')
    assert.equal(result, 130)
  })

  it('shows a stack only with --verbose', async () => {
    const quiet = await captured(() => reportError(new Error('odd'), []))
    const verbose = await captured(() => reportError(new Error('odd'), ['--verbose']))
    assert.doesNotMatch(quiet.stderr, /report-error\.test/)
    assert.match(verbose.stderr, /report-error\.test/)
  })

  it('shows no stack for a mistake on the command line', async () => {
    const mistake = new TrustError('USAGE', 'wrong')
    const {stderr} = await captured(() => reportError(mistake, ['--verbose']))
    assert.equal(
      stderr,
      'Error: wrong\nTry this: run the command with --help to see how it is used\n',
    )
  })

  for (const argv of [['--output', 'json'], ['-o', 'json'], ['--output=json']]) {
    it(`writes one JSON object to the standard error for ${argv.join(' ')}`, async () => {
      const {stdout, stderr} = await captured(() => reportError(error, argv))
      assert.equal(stdout, '')
      assert.deepEqual(JSON.parse(stderr), {
        error: {code: 'INVALID', message: 'it is wrong', hints: ['one', 'two']},
      })
    })
  }
})
