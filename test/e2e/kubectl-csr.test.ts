import assert from 'node:assert/strict'
import {LineStream} from '../helpers/line-stream.ts'
import {askedFor, listOf} from './request-manifests.ts'
import {assertContains, lines, pattern} from './text.ts'
import {withEveryKubectl} from './versions.ts'

const RESOURCE = 'certificatesigningrequest.certificates.k8s.io'

withEveryKubectl('csr', (context) => {
  const {prefix} = context
  const signerName = `example.test/${prefix}`
  const ofSigner = `--field-selector spec.signerName=${signerName}`
  const names = ['good', 'bad', 'waiting', 'watched'].map((name) => `${prefix}-${name}`)
  const [good, bad, waiting, watched] = names as [string, string, string, string]
  const condition = async (name: string): Promise<string | undefined> =>
    lines(await context.kubectl.ok(`get csr ${name} --no-headers`))[0]
      ?.split(' ')
      .at(-1)
  const path = (name: string, expression: string) =>
    context.kubectl.ok(`get csr ${name} -o 'jsonpath={${expression}}'`)

  before(async () => {
    const asked = names.map((name) => askedFor(name, {signerName, expirationSeconds: 3600}))
    const input = listOf(...(await Promise.all(asked)))
    const said = await context.kubectl.ok('create -f -', {input})
    assert.equal(said, names.map((name) => `${RESOURCE}/${name} created\n`).join(''))
  })

  it('prints them as a table', async () => {
    const row = pattern(`${good} AGE ${signerName} kubernetes-admin 60m Pending`)
    const questions = ['', '-o wide'].map((form) => `get csr ${ofSigner} ${form}`)
    for (const {stdout} of (await context.kubectl.runAll(questions)).values()) {
      const [header, ...rows] = lines(stdout)
      assert.equal(header, 'NAME AGE SIGNERNAME REQUESTOR REQUESTEDDURATION CONDITION')
      assert.equal(rows.length, names.length)
      assert.ok(
        rows.some((line) => row.test(line)),
        stdout,
      )
    }
  })

  it('finds them by signer and by name, and by nothing else', async () => {
    const found = (selector: string) =>
      context.kubectl.ok(`get csr --field-selector ${selector} -o name`)
    const [ours, one, others, errors] = await Promise.all([
      found(`spec.signerName=${signerName}`),
      found(`metadata.name=${bad}`),
      found(`metadata.name!=${bad},spec.signerName=${signerName}`),
      context.kubectl.fails('get csr --field-selector spec.username=ada'),
    ])
    assert.deepEqual(
      lines(ours),
      names.toSorted().map((name) => `${RESOURCE}/${name}`),
    )
    assert.equal(one, `${RESOURCE}/${bad}\n`)
    assert.equal(lines(others).length, 3)
    assert.match(errors, /field label not supported: spec\.username/)
  })

  it('prints them whole', async () => {
    const yaml = await context.kubectl.ok(`get csr ${good} -o yaml`)
    assertContains(yaml, [
      'apiVersion: certificates.k8s.io/v1 ',
      'expirationSeconds: 3600',
      `signerName: ${signerName}`,
      'username: kubernetes-admin',
      'status: {}',
    ])
    assert.equal(await path(good, '.spec.usages[0]'), 'client auth')
  })

  it('describes what is asked for', async () => {
    assertContains(await context.kubectl.ok(`describe csr ${good}`), [
      `Name: ${good}`,
      'Requesting User: kubernetes-admin',
      `Signer: ${signerName}`,
      'Status: Pending',
      'Subject: Common Name: ada Serial Number: Organization: engineers',
      'Subject Alternative Names: DNS Names: ada.test IP Addresses: 192.0.2.7',
      'Events: <none>',
    ])
  })

  it('approves one', async () => {
    const said = `${RESOURCE}/${good} approved\n`
    assert.equal(await context.kubectl.ok(`certificate approve ${good}`), said)
    const [state, reason] = await Promise.all([
      condition(good),
      path(good, '.status.conditions[0].reason'),
    ])
    assert.deepEqual([state, reason], ['Approved', 'KubectlApprove'])
  })

  it('changes nothing when it approves again', async () => {
    const before = await path(good, '.metadata.resourceVersion')
    const said = `${RESOURCE}/${good} approved\n`
    assert.equal(await context.kubectl.ok(`certificate approve ${good}`), said)
    assert.equal(await path(good, '.metadata.resourceVersion'), before)
  })

  it('denies one', async () => {
    const said = `${RESOURCE}/${bad} denied\n`
    assert.equal(await context.kubectl.ok(`certificate deny ${bad}`), said)
    const [state, reason, described] = await Promise.all([
      condition(bad),
      path(bad, '.status.conditions[0].reason'),
      context.kubectl.ok(`describe csr ${bad}`),
    ])
    assert.deepEqual([state, reason], ['Denied', 'KubectlDeny'])
    assertContains(described, ['Status: Denied'])
  })

  it('does not take a decision back', async () => {
    const refusals = await Promise.all([
      context.kubectl.fails(`certificate approve ${bad}`),
      context.kubectl.fails(`certificate deny ${good}`),
    ])
    for (const errors of refusals)
      assert.match(errors, /is already (Denied|Approved)|mutually exclusive/)
    const conditions = await Promise.all([condition(bad), condition(good)])
    assert.deepEqual(conditions, ['Denied', 'Approved'])
  })

  it('waits until somebody approves', async () => {
    const child = context.kubectl.start(
      `wait csr/${waiting} --for=condition=Approved --timeout=20s`,
    )
    const waited = new LineStream(child)
    try {
      await context.kubectl.ok(`certificate approve ${waiting}`)
      await waited.until((seen) => seen.includes(`${RESOURCE}/${waiting} condition met`))
    } finally {
      await waited.stop()
    }
    const denied = `wait csr/${bad} --for=condition=Approved --timeout=1s`
    assert.match(await context.kubectl.fails(denied), /timed out waiting for the condition/)
  })

  it('watches one being approved', async () => {
    const watch = new LineStream(context.kubectl.watchOne('csr', watched))
    const shown = (state: string) => (seen: string[]) => seen.some((line) => line.endsWith(state))
    try {
      await watch.until(shown(' Pending'))
      await context.kubectl.ok(`certificate approve ${watched}`)
      await watch.until(shown(' Approved'))
    } finally {
      await watch.stop()
    }
  })

  it('approves several at once, from a file too', async () => {
    const more = ['one', 'two'].map((name) => `${prefix}-more-${name}`)
    const asked = await Promise.all(more.map((name) => askedFor(name, {signerName})))
    const input = listOf(...asked)
    await context.kubectl.ok('create -f -', {input})
    const said = more.map((name) => `${RESOURCE}/${name} approved\n`).join('')
    assert.equal(await context.kubectl.ok('certificate approve -f -', {input}), said)
    assert.equal(await context.kubectl.ok(`certificate approve ${more.join(' ')}`), said)
    await context.kubectl.ok(`delete csr ${more.join(' ')}`)
  })

  it('does not approve for somebody who may not', async () => {
    const errors = await context.kubectl.fails(`certificate approve ${good} --as=eve`)
    assert.match(errors, /User "eve" cannot get resource "certificatesigningrequests"/)
  })

  it('refuses what is no request', async () => {
    const {manifest} = await askedFor(`${prefix}-wrong`, {signerName: 'nobody', usages: []})
    const errors = await context.kubectl.fails('create -f -', {input: JSON.stringify(manifest)})
    assert.match(errors, /The CertificateSigningRequest "[\w-]+" is invalid/)
    assert.match(errors, /spec\.usages: Required value/)
    assert.match(errors, /spec\.signerName: Invalid value: "nobody"/)
  })

  it('deletes them', async () => {
    const said = await context.kubectl.ok(`delete csr ${names.join(' ')}`)
    assert.equal(said, names.map((name) => `${RESOURCE} "${name}" deleted\n`).join(''))
    assert.equal(await context.kubectl.ok(`get csr ${ofSigner} -o name`), '')
    assert.match(await context.kubectl.fails(`get csr ${good}`), /"[\w-]+-good" not found/)
  })
})
