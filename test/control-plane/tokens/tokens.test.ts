import assert from 'node:assert/strict'
import {parseToken} from '../../../src/bootstrap/token.ts'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {
  completeToken,
  createToken,
  noteOf,
  type WantedToken,
} from '../../../src/control-plane/tokens/create.ts'
import {
  deleteTokens,
  parseTokenIds,
  requireSameTokens,
} from '../../../src/control-plane/tokens/delete.ts'
import {meetNeed, needOf} from '../../../src/control-plane/tokens/ensure.ts'
import {listTokens} from '../../../src/control-plane/tokens/list.ts'
import type {Clock} from '../../../src/runtime.ts'
import {ADMIN, startTestServer, type TestServer} from '../../helpers/test-server.ts'

const HOUR = 3_600_000
const NOW = new Date('2026-11-16T12:00:00Z')
const clockAt = (offset: number): Clock => ({now: () => new Date(NOW.getTime() + offset)})
const TOKEN = parseToken('nh3k2b.x8s0vq1zr5mw7cpd')

describe('the tokens of a cluster', () => {
  let server: TestServer
  let client: ApiClient
  let warnings: string[]
  beforeEach(async () => {
    server = await startTestServer({controllers: false})
    client = server.clientAs(ADMIN)
    warnings = []
  })
  afterEach(() => server.stop())

  const create = (wanted: WantedToken = {}) => createToken(client, completeToken(wanted, NOW))
  const list = async ({showSecrets = true, offset = 0} = {}) => {
    const warn = (line: string) => warnings.push(line)
    return (await listTokens(client, {showSecrets, warn}, clockAt(offset))).tokens
  }
  const ids = async () => (await list()).map(({id}) => id)

  /** Somebody else's Secret, with values as text. */
  const plant = (name: string, values: Record<string, string>) =>
    client.secrets.create({
      metadata: {name, namespace: 'kube-system'},
      type: 'bootstrap.kubernetes.io/token',
      stringData: values,
    })

  it('are listed with all that is known of them', async () => {
    await create({token: TOKEN, ttl: 2 * HOUR, description: 'for rack 7'})
    const [report] = await list()
    assert.deepEqual(
      {...report, created: ''},
      {
        id: 'nh3k2b',
        token: 'nh3k2b.x8s0vq1zr5mw7cpd',
        expires: '2026-11-16T14:00:00Z',
        ttlSeconds: 7200,
        usages: ['authentication', 'signing'],
        description: 'for rack 7',
        groups: ['system:bootstrappers:kubeadm:default-node-token'],
        created: '',
        problems: [],
      },
    )
  })

  it('are listed without their secrets unless these are asked for', async () => {
    await create({token: TOKEN})
    const [report] = await list({showSecrets: false})
    assert.doesNotMatch(JSON.stringify(report), /x8s0vq/)
  })

  it('stay in the list when they have expired, with the reason', async () => {
    await create({token: TOKEN, ttl: HOUR})
    const [report] = await list({offset: 2 * HOUR})
    assert.equal(report?.ttlSeconds, -3600)
    assert.deepEqual(report?.problems, ['it has expired'])
  })

  it('have no problem if they are for one thing only, as they were made; unless it is for nothing', async () => {
    await create({token: TOKEN, usages: {signing: true, authentication: false}})
    await plant('bootstrap-token-aaaaaa', {
      'token-id': 'aaaaaa',
      'token-secret': 'q1zr5mw7cpdx8s0v',
    })
    assert.deepEqual(
      (await list()).map(({id, problems}) => [id, problems]),
      [
        ['aaaaaa', ['it is not for signing', 'it is not for authentication']],
        ['nh3k2b', []],
      ],
    )
  })

  it('are never taken from Secrets that are none; those are named without a value', async () => {
    const good = {'token-id': 'aaaaaa', 'token-secret': 'canary7890123456'}
    await plant('bootstrap-token-bbbbbb', good)
    await plant('bootstrap-token-aaaaaa', {...good, 'token-secret': 'Canary-!'})
    await plant('bootstrap-token-cccccc', {...good, 'token-id': 'cccccc', expiration: 'canary'})
    assert.deepEqual(await list(), [])
    assert.deepEqual(
      warnings.map((line) => /kube-system\/(\S+)/.exec(line)?.[1]),
      ['bootstrap-token-aaaaaa', 'bootstrap-token-bbbbbb', 'bootstrap-token-cccccc'],
    )
    assert.doesNotMatch(warnings.join(), /canary/i)
  })

  it('are refused where the id is in use, with the id and without the secret', async () => {
    await create({token: TOKEN})
    await assert.rejects(
      create({token: {...TOKEN, secret: 'q1zr5mw7cpdx8s0v'}}),
      (error: Error) => {
        assert.equal((error as {code?: string}).code, 'ALREADY_EXISTS')
        assert.match(error.message, /nh3k2b/)
        assert.doesNotMatch(error.message, /q1zr5/)
        return true
      },
    )
  })

  it('are not stored in a dry run, which still finds that an id is in use', async () => {
    await createToken(client, completeToken({token: TOKEN}, NOW), {dryRun: true})
    assert.deepEqual(await ids(), [])
    await create({token: TOKEN})
    const again = createToken(client, completeToken({token: TOKEN}, NOW), {dryRun: true})
    await assert.rejects(again, {code: 'ALREADY_EXISTS'})
  })

  it('are refused where they could be guessed, unless that is allowed', () => {
    const token = parseToken('abcdef.0123456789abcdef')
    assert.throws(() => completeToken({token}, NOW), {code: 'TOKEN_WEAK'})
    assert.deepEqual(completeToken({token}, NOW, {allowWeak: true}).token, token)
  })

  it('are deleted by id and by the whole token, each once', async () => {
    await create({token: TOKEN})
    await create({token: {...TOKEN, id: 'second'}})
    const named = parseTokenIds(['nh3k2b.x8s0vq1zr5mw7cpd', 'second', 'second'])
    assert.deepEqual(await deleteTokens(client, named), {deleted: ['nh3k2b', 'second']})
    assert.deepEqual(await ids(), [])
  })

  it('are deleted but for the one that is not there, which is named', async () => {
    await create({token: TOKEN})
    await assert.rejects(deleteTokens(client, ['absent', 'nh3k2b']), {
      code: 'NOT_FOUND',
      message: 'there is no token with the id "absent"; "nh3k2b" was deleted',
    })
    assert.deepEqual(await ids(), [])
  })

  it('are not deleted by a whole token with another secret, nor are those beside it', async () => {
    await create({token: TOKEN})
    await create({token: {...TOKEN, id: 'second'}})
    const wrong = ['second', 'nh3k2b.q1zr5mw7cpdx8s0v', 'absent.q1zr5mw7cpdx8s0v']
    await assert.rejects(requireSameTokens(client, wrong, NOW), (error: Error) => {
      assert.equal((error as {code?: string}).code, 'CONFLICT')
      assert.match(error.message, /another token with the id "nh3k2b": nothing was deleted/)
      assert.doesNotMatch(error.message, /q1zr5|x8s0/)
      return true
    })
    await requireSameTokens(client, ['nh3k2b.x8s0vq1zr5mw7cpd', 'second'], NOW)
  })

  it('stay in a dry run of deleting them', async () => {
    await create({token: TOKEN})
    await deleteTokens(client, ['nh3k2b'], {dryRun: true})
    assert.deepEqual(await ids(), ['nh3k2b'])
  })

  describe('that must be there', () => {
    const ensure = async (wanted: WantedToken, offset = 0) => {
      const need = await needOf(client, wanted, clockAt(offset).now(), {})
      await meetNeed(client, need)
      return need
    }

    it('are made, and kept in a second run', async () => {
      const first = await ensure({description: 'of init'})
      const second = await ensure({description: 'of init'}, HOUR)
      assert.equal(first.change, 'create')
      assert.equal(second.change, 'none')
      assert.deepEqual(second.info, first.info)
    })

    it('get the lifetime that a later run asks for, whether it is longer, shorter or without end', async () => {
      const policy = {setsLifetime: true}
      for (const named of [{token: TOKEN}, {description: 'of init'}]) {
        const first = await ensure({...named, ttl: HOUR})
        for (const ttl of [2 * HOUR, HOUR / 2, 0]) {
          const need = await needOf(client, {...named, ttl}, NOW, policy)
          await meetNeed(client, need)
          assert.equal(need.change, 'update')
          const report = (await list()).find(({id}) => id === first.info.token.id)
          assert.equal(report?.ttlSeconds, ttl === 0 ? null : ttl / 1000)
          assert.equal(report?.description, first.info.description)
        }
        assert.equal((await needOf(client, {...named, ttl: 0}, NOW, policy)).change, 'none')
      }
      assert.equal((await list()).length, 2)
    })

    it('are made anew where the earlier one has no time left', async () => {
      const first = await ensure({description: 'of init', ttl: HOUR})
      const second = await ensure({description: 'of init', ttl: HOUR}, HOUR - 30_000)
      assert.equal(second.change, 'create')
      assert.notEqual(second.info.token.id, first.info.token.id)
    })

    it('are not those that somebody made for something else', async () => {
      await create({description: 'of init', usages: {signing: true, authentication: false}})
      await create({description: 'for rack 7'})
      assert.equal((await ensure({description: 'of init'})).change, 'create')
    })

    it('are made valid again where their time is over', async () => {
      await ensure({token: TOKEN, ttl: HOUR})
      assert.equal((await ensure({token: TOKEN, ttl: HOUR}, 2 * HOUR)).change, 'update')
      const [report] = await list({offset: 2 * HOUR})
      assert.equal(report?.ttlSeconds, 3600)
    })

    it('are refused where the id belongs to another token', async () => {
      await create({token: {...TOKEN, secret: 'q1zr5mw7cpdx8s0v'}})
      await assert.rejects(ensure({token: TOKEN}), {code: 'ALREADY_EXISTS'})
    })
  })
})

describe('what whoever hands out a token is told', () => {
  const note = (wanted: WantedToken) =>
    noteOf(
      completeToken({token: TOKEN, ...wanted}, NOW),
      NOW,
      (command) => `trustadm ${command} --dir /srv/plane`,
    )
  const tell = (wanted: WantedToken) => note(wanted)?.line

  it('says what it can do, until when, and how to end that, in one line', () => {
    const line = tell({ttl: HOUR}) ?? ''
    assert.match(line, /can join machines until 2026-11-16T13:00:00Z/)
    assert.match(line, /"trustadm token delete nh3k2b --dir \/srv\/plane"/)
    assert.doesNotMatch(line, /\n|x8s0vq/)
  })

  it('says so of a token without an end', () => {
    assert.match(tell({ttl: 0}) ?? '', /does not expire/)
  })

  it('is a warning only if it lasts longer than by default', () => {
    const isWarning = (wanted: WantedToken) => note(wanted)?.isWarning
    assert.deepEqual([isWarning({}), isWarning({ttl: HOUR})], [false, false])
    assert.deepEqual([isWarning({ttl: 25 * HOUR}), isWarning({ttl: 0})], [true, true])
  })

  it('is nothing if the token lets nobody in', () => {
    assert.equal(tell({usages: {signing: true, authentication: false}}), undefined)
  })
})
