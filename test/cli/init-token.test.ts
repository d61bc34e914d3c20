import assert from 'node:assert/strict'
import {tokensFor, type InitTokenFlagValues} from '../../src/cli/init-token.ts'
import type {WantedToken} from '../../src/control-plane/tokens/create.ts'
import {systemClock} from '../../src/runtime.ts'

const TOKEN = 'nh3k2b.x8s0vq1zr5mw7cpd'
const PARSED = {id: 'nh3k2b', secret: 'x8s0vq1zr5mw7cpd'}

describe('the tokens that init is to make', () => {
  let warnings: string[] = []
  beforeEach(() => (warnings = []))
  const wanted = async (flags: InitTokenFlagValues, file?: WantedToken[]) =>
    (await tokensFor(flags, file, (line) => warnings.push(line), systemClock)).wanted

  it('are one random token where nothing is said', async () => {
    assert.deepEqual(await wanted({}), [{}])
  })

  it('are none for an empty --token, whatever the file says', async () => {
    assert.deepEqual(await wanted({token: ''}, [{description: 'x'}]), [])
  })

  it('are the one on the command line, with a warning', async () => {
    assert.deepEqual(await wanted({token: TOKEN}), [{token: PARSED}])
    assert.equal(warnings.length, 1)
  })

  it('are those of the file, for as long as the command line says', async () => {
    const file = [{token: PARSED, expires: new Date('2027-01-01T00:00:00Z')}, {ttl: 1}]
    assert.deepEqual(await wanted({'token-ttl': '1h'}, file), [
      {token: PARSED, ttl: 3_600_000},
      {ttl: 3_600_000},
    ])
  })

  it('change their lifetime only if the command line says so, which needs a token', async () => {
    const setsLifetime = async (flags: InitTokenFlagValues) =>
      (await tokensFor(flags, [{ttl: 1}], () => undefined, systemClock)).setsLifetime
    assert.equal(await setsLifetime({'token-ttl': '1h'}), true)
    assert.equal(await setsLifetime({}), false)
    await assert.rejects(setsLifetime({token: '', 'token-ttl': '1h'}), {code: 'USAGE'})
  })

  it('are that of the command line rather than those of the file', async () => {
    assert.deepEqual(await wanted({token: TOKEN}, [{ttl: 1}]), [{token: PARSED}])
  })

  it('are refused before anything is written where they could be guessed', async () => {
    const weak = {token: 'abcdef.0123456789abcdef'}
    await assert.rejects(wanted(weak), {code: 'TOKEN_WEAK'})
    assert.equal((await wanted({...weak, 'allow-weak': true})).length, 1)
  })
})
