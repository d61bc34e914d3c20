import assert from 'node:assert/strict'
import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {createAuthorityCertificate} from '../../src/pki/create.ts'
import {generateKeys, privateKeyPem} from '../../src/pki/keys.ts'
import {authorityValidity} from '../../src/pki/lifetimes.ts'
import {systemClock} from '../../src/runtime.ts'
import {assertContains, lines} from './text.ts'
import {withEveryKubectl} from './versions.ts'

const HOUR = 3_600_000
const RBAC = 'rbac.authorization.k8s.io'

withEveryKubectl('generators', (context) => {
  const {prefix, version} = context
  const created = async (line: string, said: string): Promise<void> => {
    assert.equal(await context.kubectl.ok(`create ${line}`), `${said} created\n`)
  }
  const show = async (target: string, path: string): Promise<string> =>
    context.kubectl.ok(`get ${target} -o 'jsonpath=${path}'`)

  it('makes a Secret from words and files', async () => {
    await writeFile(join(context.home, 'note.txt'), 'from a file')
    await created('secret generic s1 --from-literal=a=b --from-file=note.txt', 'secret/s1')
    const path = '{.type} {.data.a} {.data.note\\.txt}'
    const file = Buffer.from('from a file').toString('base64')
    assert.equal(await show('secret s1', path), `Opaque Yg== ${file}`)
  })

  it('makes a TLS Secret', async () => {
    const keys = await generateKeys()
    const validity = authorityValidity(systemClock.now(), HOUR)
    const certificate = await createAuthorityCertificate({commonName: 'web'}, keys, validity)
    await writeFile(join(context.home, 'tls.crt'), certificate)
    await writeFile(join(context.home, 'tls.key'), privateKeyPem(keys.privateKey))
    await created('secret tls s2 --cert=tls.crt --key=tls.key', 'secret/s2')
    const stored = await show('secret s2', '{.data.tls\\.crt}')
    assert.equal(Buffer.from(stored, 'base64').toString(), certificate)
    assert.equal(await show('secret s2', '{.type}'), 'kubernetes.io/tls')
  })

  it('makes a Secret for a registry', async () => {
    const flags = '--docker-server=registry.example.test --docker-username=u --docker-password=p'
    await created(`secret docker-registry s3 ${flags}`, 'secret/s3')
    const stored = await show('secret s3', '{.data.\\.dockerconfigjson}')
    const {auths} = JSON.parse(Buffer.from(stored, 'base64').toString())
    assert.equal(auths['registry.example.test'].username, 'u')
  })

  it('makes a ConfigMap from words, a file and bytes that are no text', async () => {
    await writeFile(join(context.home, 'raw.bin'), Buffer.from([0xff, 0xfe, 0x00]))
    await created('configmap c1 --from-literal=a=b --from-file=raw=raw.bin', 'configmap/c1')
    assert.equal(await show('cm c1', '{.data.a} {.binaryData.raw}'), 'b //4A')
  })

  it('makes a Namespace with what belongs into it', async () => {
    const name = `${prefix}-made`
    await created(`namespace ${name}`, `namespace/${name}`)
    const kubectl = context.kubectl.in(name)
    if (context.waitsForCreation) await kubectl.ok('wait --for=create sa/default --timeout=10s')
    const until = performance.now() + 10_000
    let found: string[] = []
    while (found.length < 2 && performance.now() < until) {
      found = lines(await kubectl.ok('get sa,cm -o name'))
    }
    assert.deepEqual(found, ['serviceaccount/default', 'configmap/kube-root-ca.crt'])
    await context.kubectl.ok(`delete namespace ${name}`)
  })

  it('makes a ServiceAccount', async () => {
    await created('serviceaccount robot', 'serviceaccount/robot')
  })

  it('makes a Role for resources by name and of other groups', async () => {
    const resources = '--resource=pods,pods/status,leases.coordination.k8s.io'
    await created(`role r1 --verb=get --verb=watch ${resources}`, `role.${RBAC}/r1`)
    assert.deepEqual(JSON.parse(await show('role r1', '{.rules}')), [
      {apiGroups: [''], resources: ['pods', 'pods/status'], verbs: ['get', 'watch']},
      {apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'watch']},
    ])
  })

  it('makes no Role for a resource that is not served', async () => {
    const errors = await context.kubectl.fails('create role r2 --verb=get --resource=unicorns')
    assert.match(errors, /the server doesn't have a resource type "unicorns"/)
  })

  it('makes a RoleBinding', async () => {
    const subjects = '--user=ada --group=crew --serviceaccount=other:robot'
    await created(`rolebinding b1 --role=r1 ${subjects}`, `rolebinding.${RBAC}/b1`)
    assert.deepEqual(JSON.parse(await show('rolebinding b1', '{.subjects}')), [
      {apiGroup: RBAC, kind: 'User', name: 'ada'},
      {apiGroup: RBAC, kind: 'Group', name: 'crew'},
      {kind: 'ServiceAccount', name: 'robot', namespace: 'other'},
    ])
  })

  it('makes a ClusterRole, and one that is aggregated from it', async () => {
    const [part, whole] = [`${prefix}-part`, `${prefix}-whole`]
    const rule = '--verb=get --non-resource-url=/logs/*'
    await created(`clusterrole ${part} ${rule}`, `clusterrole.${RBAC}/${part}`)
    await context.kubectl.ok(`label clusterrole ${part} join=${prefix}`)
    const aggregation = `--aggregation-rule=join=${prefix}`
    await created(`clusterrole ${whole} ${aggregation}`, `clusterrole.${RBAC}/${whole}`)
    const until = performance.now() + 10_000
    let rules = ''
    // Until a controller has seen it, kubectl prints nothing, or null.
    while (['', 'null'].includes(rules) && performance.now() < until) {
      rules = await show(`clusterrole ${whole}`, '{.rules}')
    }
    assert.deepEqual(JSON.parse(rules), [{nonResourceURLs: ['/logs/*'], verbs: ['get']}])
    await context.kubectl.ok(`delete clusterrole ${part} ${whole}`)
  })

  it('makes a ClusterRoleBinding', async () => {
    const name = `${prefix}-viewers`
    const said = `clusterrolebinding.${RBAC}/${name}`
    await created(`clusterrolebinding ${name} --clusterrole=view --group=crew`, said)
    assert.equal(await show(`clusterrolebinding ${name}`, '{.roleRef.name}'), 'view')
    await context.kubectl.ok(`delete clusterrolebinding ${name}`)
  })

  it('makes a Service with an address', async () => {
    await created('service clusterip web --tcp=80:8080', 'service/web')
    assert.match(await show('service web', '{.spec.clusterIP}'), /^10\.\d+\.\d+\.\d+$/)
    assert.equal(await show('service web', '{.spec.ports[0].targetPort}'), '8080')
  })

  it('runs a Pod with a token mounted', async () => {
    assert.equal(await context.kubectl.ok('run p1 --image=example.test/p'), 'pod/p1 created\n')
    const mount = await show('pod p1', '{.spec.containers[0].volumeMounts[*].mountPath}')
    assert.equal(mount, '/var/run/secrets/kubernetes.io/serviceaccount')
  })

  it('tries on the server without storing', async () => {
    const text = await context.kubectl.ok('create configmap dry --dry-run=server -o yaml')
    assertContains(text, ['name: dry', 'uid: '])
    assert.match(await context.kubectl.fails('get cm dry'), /configmaps "dry" not found/)
  })

  it('is told that a name is taken', async () => {
    const errors = await context.kubectl.fails('create serviceaccount robot')
    const old = 'Error from server (AlreadyExists): serviceaccounts "robot" already exists'
    const now = 'failed to create serviceaccount: serviceaccounts "robot" already exists'
    assertContains(errors, [version === '1.20' ? old : now])
  })

  it('is told that a name is wrong', async () => {
    const errors = await context.kubectl.fails('create configmap Wrong_Name')
    assert.match(errors, /is invalid: metadata\.name: Invalid value: "Wrong_Name"/)
  })
})
