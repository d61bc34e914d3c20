import assert from 'node:assert/strict'
import {execFileSync} from 'node:child_process'
import {run} from './program.ts'

/** What bash offers at the end of a line. */
async function offered(words: string[]): Promise<string[]> {
  const {stdout: script} = await run('autocomplete', 'bash')
  const list = ['trustadm', ...words].map((word) => `'${word}'`).join(' ')
  const test = `${script}\nCOMP_WORDS=(${list}); COMP_CWORD=${words.length}; _trustadm; printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['--norc', '-c', test]).toString().trim().split('\n')
}

describe('the completion of bash', () => {
  it('offers the commands', async () => {
    assert.deepEqual(await offered(['stat']), ['status'])
  })

  it('offers the commands of a group', async () => {
    assert.deepEqual(await offered(['certificate', 're']), ['review', 'request', 'revoke', 'renew'])
  })

  it('offers the flags of a command', async () => {
    assert.deepEqual(await offered(['init', '--apiserver-b']), ['--apiserver-bind-port'])
  })

  it('offers the phases', async () => {
    assert.deepEqual(await offered(['init', 'phase', 'ce']), ['certs'])
  })

  it('offers the choices of a flag', async () => {
    assert.deepEqual(await offered(['status', '--output', 'j']), ['json'])
  })
})

describe('the completion of values in bash', () => {
  it('offers the choices that the command at hand has', async () => {
    assert.deepEqual(await offered(['version', '-o', 's']), ['short'])
    assert.deepEqual(await offered(['status', '-o', 'n']), ['name'])
  })

  it('leaves files to the shell', async () => {
    assert.deepEqual(await offered(['init', '--config', '']), [''])
  })
})

describe('the completion of other shells', () => {
  it('is registered with zsh', async () => {
    assert.match((await run('autocomplete', 'zsh')).stdout, /bashcompinit\n_trustadm\(\)/)
  })

  it('has every command for fish', async () => {
    assert.match((await run('autocomplete', 'fish')).stdout, /-a 'check-expiration'/)
  })
})
