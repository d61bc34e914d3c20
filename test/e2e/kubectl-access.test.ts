import assert from 'node:assert/strict'
import {readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {parseKubeconfig} from '../../src/client/kubeconfig.ts'
import {sharedCluster} from '../helpers/cluster.ts'
import type {Finished} from '../helpers/kubectl.ts'
import {assertContains, assertLines, lines} from './text.ts'
import {withEveryKubectl} from './versions.ts'

withEveryKubectl('access', (context) => {
  const {prefix, tokens, whoami} = context
  const asAda = '--as=ada --as-group=crew'

  /** A kubeconfig with a bearer token instead of the admin's certificate. */
  const withToken = async (token: string): Promise<string> => {
    const {kubeconfig} = await sharedCluster()
    const config = parseKubeconfig(await readFile(kubeconfig, 'utf8'))
    const users = config.users?.map(({name}) => ({name, user: {token}}))
    const path = join(context.home, 'token.conf')
    await writeFile(path, JSON.stringify({...config, users}))
    return path
  }

  const newToken = async (): Promise<string> => {
    if (tokens) return (await context.kubectl.ok('create token robot --duration=15m')).trim()
    const path = `/api/v1/namespaces/${prefix}/serviceaccounts/robot/token`
    const input = JSON.stringify({
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: {},
    })
    const text = await context.kubectl.ok(`create --raw ${path} -f -`, {input})
    return (JSON.parse(text) as {status: {token: string}}).status.token
  }

  before(async () => {
    await context.kubectl.ok('create serviceaccount robot')
    await context.kubectl.ok('create role keeper --verb=get,list --resource=secrets')
    const subjects = `--group=crew --serviceaccount=${prefix}:robot`
    await context.kubectl.ok(`create rolebinding keepers --role=keeper ${subjects}`)
    await context.kubectl.ok('create secret generic box --from-literal=a=b')
  })

  const questions: {can: string; answer: 'yes' | 'no'}[] = [
    {can: 'delete nodes', answer: 'yes'},
    {can: `get secrets ${asAda}`, answer: 'yes'},
    {can: `get secrets/box ${asAda}`, answer: 'yes'},
    {can: `delete secrets ${asAda}`, answer: 'no'},
    {can: `list secrets -n default ${asAda}`, answer: 'no'},
    {can: 'get secrets --as=ada', answer: 'no'},
    {can: 'get /version --as=ada', answer: 'yes'},
    {can: 'get /metrics --as=ada', answer: 'no'},
    {can: `list secrets --as=system:serviceaccount:${prefix}:robot`, answer: 'yes'},
    {can: 'create selfsubjectaccessreviews.authorization.k8s.io --as=ada', answer: 'yes'},
  ]
  let answers: Map<string, Finished>
  before(async () => {
    answers = await context.kubectl.runAll(questions.map(({can}) => `auth can-i ${can}`))
  })
  for (const {can, answer} of questions) {
    it(`is answered ${answer}: can I ${can}`, () => {
      const said = answers.get(`auth can-i ${can}`)
      assert.equal(said?.stdout, `${answer}\n`)
      assert.equal(said.code, answer === 'yes' ? 0 : 1)
    })
  }

  it('lists what somebody may do', async () => {
    const text = await context.kubectl.ok(`auth can-i --list ${asAda}`)
    assertContains(text, ['Resources Non-Resource URLs Resource Names Verbs'])
    assertLines(text, ['secrets [] [] [get list]', '[/version] [] [get]'])
  })

  it('may act as another only within what the other may', async () => {
    assert.equal(await context.kubectl.ok(`get secret box -o name ${asAda}`), 'secret/box\n')
    const errors = await context.kubectl.fails(`delete secret box ${asAda}`)
    assertContains(errors, [
      'Error from server (Forbidden): secrets "box" is forbidden: User "ada" cannot delete',
      `resource "secrets" in API group "" in the namespace "${prefix}"`,
    ])
  })

  it('may not grant what it does not have', async () => {
    const grant = '--verb=create --resource=rolebindings,roles'
    await context.kubectl.ok(`create role granter ${grant}`)
    await context.kubectl.ok('create rolebinding granters --role=granter --user=eve')
    const role = 'create role more --verb=get --resource=pods --as=eve'
    assert.match(
      await context.kubectl.fails(role),
      /user "eve" .* is attempting to grant RBAC permissions not currently held/,
    )
    const binding = 'create rolebinding more --clusterrole=cluster-admin --user=eve --as=eve'
    assert.match(await context.kubectl.fails(binding), /permissions not currently held/)
  })

  if (whoami) {
    it('knows who it is', async () => {
      const text = await context.kubectl.ok('auth whoami')
      assertContains(text, [
        'ATTRIBUTE VALUE',
        'Groups [kubeadm:cluster-admins system:authenticated]',
      ])
      assert.match(text, /credential-id\s+\[X509SHA256=[0-9a-f]{64}\]/)
    })

    it('knows whom it acts as', async () => {
      const text = await context.kubectl.ok(`auth whoami ${asAda} -o json`)
      assert.deepEqual(JSON.parse(text).status.userInfo, {
        username: 'ada',
        groups: ['crew', 'system:authenticated'],
      })
    })
  }

  it('is the service account whose token it holds', async () => {
    const kubeconfig = await withToken(await newToken())
    const get = `get secrets -o name --kubeconfig=${kubeconfig}`
    assert.deepEqual(lines(await context.kubectl.ok(get)), ['secret/box'])
    const errors = await context.kubectl.fails(`get nodes --kubeconfig=${kubeconfig}`)
    assertContains(errors, [`User "system:serviceaccount:${prefix}:robot" cannot list`])
  })

  if (tokens) {
    it('gets a token for another audience, which this server does not accept', async () => {
      const token = (await context.kubectl.ok('create token robot --audience=vault')).trim()
      const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
      assert.deepEqual(claims.aud, ['vault'])
      assert.equal(claims.sub, `system:serviceaccount:${prefix}:robot`)
      const errors = await context.kubectl.fails(
        `get secrets --kubeconfig=${await withToken(token)}`,
      )
      assert.match(errors, /You must be logged in to the server/)
    })

    it('gets no token for an account that is not there', async () => {
      const errors = await context.kubectl.fails('create token nobody')
      assert.match(errors, /serviceaccounts "nobody" not found/)
    })
  }

  it('is refused with a token that nobody issued', async () => {
    const kubeconfig = await withToken('abc.def.ghi')
    const errors = await context.kubectl.fails(`get secrets --kubeconfig=${kubeconfig}`)
    assert.match(errors, /You must be logged in to the server/)
  })

  it('sees only what everybody may as nobody', async () => {
    const version = await context.kubectl.ok('get --raw /version --as=system:anonymous')
    assert.equal(JSON.parse(version).minor, '36')
    const errors = await context.kubectl.fails('get --raw /api --as=system:anonymous')
    assertContains(errors, ['forbidden: User "system:anonymous" cannot get path "/api"'])
  })

  it('reconciles roles to what a file asks for', async () => {
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: {name: 'keeper', namespace: prefix},
      rules: [{apiGroups: [''], resources: ['pods'], verbs: ['get']}],
    }
    await context.kubectl.ok('auth reconcile -f -', {input: JSON.stringify(role)})
    const rules = await context.kubectl.ok('get role keeper -o jsonpath={.rules[*].resources[*]}')
    assert.equal(rules, 'secrets pods')
  })
})
