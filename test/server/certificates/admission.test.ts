import assert from 'node:assert/strict'
import {requestPem, selfSignedPem} from '../resources/certificates.ts'
import {
  CSRS,
  RBAC,
  allow,
  condition,
  csrObject,
  encoded,
  useServer,
  type Answer,
  type Impersonated,
} from './support.ts'

const SUBJECT = 'certificatesigningrequests.certificates.k8s.io'
const assertRefused = ({status, body, text}: Answer, name: string, why: string) => {
  assert.equal(status, 403, text)
  assert.equal(body.reason, 'Forbidden')
  assert.equal(body.message, `${SUBJECT} "${name}" is forbidden: ${why}`)
}

/** Cases 04, E, by users who may write the endpoints, and differ in the signers that they may act for. */
describe('admission of CertificateSigningRequests', () => {
  const {api} = useServer()
  const endpoints = {
    verbs: ['update', 'patch', 'get'],
    resources: ['certificatesigningrequests/approval', 'certificatesigningrequests/status'],
  }
  const signers = (verb: string, ...resourceNames: string[]) => ({
    verbs: [verb],
    resources: ['signers'],
    resourceNames,
  })
  const as = (user: string): {as: Impersonated} => ({as: {user}})
  let certificate = ''

  before(async () => {
    certificate = encoded((await selfSignedPem()).certificate)
    await allow(api(), 'nobody', 'nobody', endpoints)
    for (const verb of ['approve', 'sign']) {
      const grant = (name: string, ...names: string[]) =>
        allow(api(), `${verb}-${name}`, `${verb}-${name}`, endpoints, signers(verb, ...names))
      await grant('exact', 'abc.com/xyz')
      await grant('domain', 'abc.com/*')
      await grant('other', 'abc.com/other', 'xyz.com/*', '*')
      await allow(api(), `${verb}-all`, `${verb}-all`, endpoints, {
        verbs: [verb],
        resources: ['signers'],
      })
      await allow(api(), `${verb}-unbound`, `${verb}-unbound`, endpoints)
    }
  })

  const made = async (signerName = 'abc.com/xyz') => {
    const {metadata} = await api().make(CSRS, csrObject({signerName}))
    return {name: metadata.name, path: `${CSRS}/${metadata.name}`}
  }
  const approval = (type = 'Approved') => ({status: {conditions: [condition(type)]}})

  describe('at /approval', () => {
    const refused = 'user not permitted to approve requests with signerName "abc.com/xyz"'
    const decide = async (user: string, type?: string) => {
      const {name, path} = await made()
      const object = {metadata: {name}, ...approval(type)}
      return {name, answer: await api().put(`${path}/approval`, object, as(user))}
    }

    for (const user of ['approve-exact', 'approve-domain', 'approve-all']) {
      it(`lets ${user} approve, and deny`, async () => {
        for (const type of ['Approved', 'Denied']) {
          const {answer} = await decide(user, type)
          assert.equal(answer.status, 200, answer.text)
        }
      })
    }

    for (const user of ['approve-other', 'approve-unbound', 'sign-all']) {
      it(`lets ${user} neither approve nor deny`, async () => {
        for (const type of ['Approved', 'Denied']) {
          const {name, answer} = await decide(user, type)
          assertRefused(answer, name, refused)
        }
      })
    }

    it('decides on the stored signer, whatever the request names', async () => {
      const {name, path} = await made('mine.com/own')
      const object = {metadata: {name}, spec: {signerName: 'abc.com/xyz'}, ...approval()}
      assertRefused(
        await api().put(`${path}/approval`, object, as('approve-exact')),
        name,
        'user not permitted to approve requests with signerName "mine.com/own"',
      )
      const other = await made()
      const swapped = {...object, metadata: {name: other.name}, spec: {signerName: 'mine.com/own'}}
      const answer = await api().put(`${other.path}/approval`, swapped, as('approve-exact'))
      assert.equal(answer.status, 200, answer.text)
      assert.equal(answer.body.spec.signerName, 'abc.com/xyz')
    })

    it('holds for patches and dry runs too', async () => {
      const {name, path} = await made()
      const patched = await api().patch(`${path}/approval`, approval(), as('approve-other'))
      assertRefused(patched, name, refused)
      const dry = `${path}/approval?dryRun=All`
      assertRefused(await api().patch(dry, approval(), as('approve-other')), name, refused)
      assert.equal((await api().patch(dry, approval(), as('approve-exact'))).status, 200)
    })

    it('says what is invalid before it says who may not', async () => {
      const {name, path} = await made()
      const object = {metadata: {name}, status: {conditions: [condition('Approved', 'False')]}}
      const answer = await api().put(`${path}/approval`, object, as('approve-other'))
      assert.equal(answer.status, 422, answer.text)
    })

    it('asks again as soon as a right is withdrawn', async () => {
      await allow(api(), 'brief', 'brief', endpoints, signers('approve', 'abc.com/xyz'))
      assert.equal((await decide('brief')).answer.status, 200)
      await api().delete(`${RBAC}/clusterrolebindings/brief`)
      assert.equal((await decide('brief')).answer.status, 403)
    })
  })

  describe('at /status', () => {
    const refused = 'user not permitted to sign requests with signerName "abc.com/xyz"'
    const approved = async () => {
      const {name, path} = await made()
      const object = {metadata: {name}, ...approval()}
      const {status} = await api().change(`${path}/approval`, object)
      return {name, path, status: status as object}
    }
    const changes: Record<string, (status: object) => object> = {
      'a certificate': (status) => ({...status, certificate}),
      'a failure': () => ({conditions: [condition('Approved'), condition('Failed')]}),
      'another condition': () => ({conditions: [condition('Approved'), condition('Seen')]}),
    }
    for (const [what, change] of Object.entries(changes)) {
      for (const user of ['sign-exact', 'sign-domain', 'sign-all']) {
        it(`lets ${user} write ${what}`, async () => {
          const {name, path, status} = await approved()
          const object = {metadata: {name}, status: change(status)}
          const answer = await api().put(`${path}/status`, object, as(user))
          assert.equal(answer.status, 200, answer.text)
        })
      }

      for (const user of ['sign-other', 'sign-unbound', 'approve-all']) {
        it(`does not let ${user} write ${what}`, async () => {
          const {name, path, status} = await approved()
          const object = {metadata: {name}, status: change(status)}
          assertRefused(await api().put(`${path}/status`, object, as(user)), name, refused)
        })
      }
    }

    it('lets anyone write what changes nothing but labels', async () => {
      const {name, path, status} = await approved()
      const object = {metadata: {name, labels: {a: 'b'}}, status}
      const answer = await api().put(`${path}/status`, object, as('nobody'))
      assert.equal(answer.status, 200, answer.text)
    })

    it('does not count what is undone anyway: another reason of a decision', async () => {
      const {name, path} = await approved()
      const status = {conditions: [{...condition('Approved'), reason: 'forged'}]}
      const answer = await api().put(`${path}/status`, {metadata: {name}, status}, as('nobody'))
      assert.equal(answer.status, 200, answer.text)
      assert.equal(answer.body.status.conditions[0].reason, undefined)
    })

    it('decides on the stored signer, whatever the request names', async () => {
      const {name, path} = await made('mine.com/own')
      const object = {metadata: {name}, spec: {signerName: 'abc.com/xyz'}, status: {certificate}}
      assertRefused(
        await api().put(`${path}/status`, object, as('sign-exact')),
        name,
        'user not permitted to sign requests with signerName "mine.com/own"',
      )
    })
  })

  describe('of subjects', () => {
    const CLIENT = 'kubernetes.io/kube-apiserver-client'
    const ask = async (signerName: string, organizations: string[]) => {
      const request = encoded(await requestPem({commonName: 'x', organizations}))
      const object = csrObject({request, signerName, usages: ['client auth']})
      return {name: object.metadata.name, answer: await api().post(CSRS, object)}
    }

    it('refuses system:masters, to administrators too', async () => {
      const {name, answer} = await ask(CLIENT, ['a', 'system:masters'])
      assertRefused(
        answer,
        name,
        `use of ${CLIENT} signer with system:masters group is not allowed`,
      )
      assert.equal((await api().get(`${CSRS}/${name}`)).status, 404)
    })

    it('admits other groups, and other signers', async () => {
      assert.equal((await ask(CLIENT, ['system:admins'])).answer.status, 201)
      assert.equal((await ask('example.com/x', ['system:masters'])).answer.status, 201)
      assert.equal(
        (await ask('kubernetes.io/kubelet-serving', ['system:masters'])).answer.status,
        201,
      )
    })

    it('calls a request invalid that cannot be read', async () => {
      const object = csrObject({request: encoded('nonsense'), signerName: CLIENT})
      const answer = await api().post(CSRS, object)
      assert.equal(answer.status, 422)
      assert.match(answer.causes.join(), /^spec\.request: /)
    })
  })
})

describe('the roles of approvers and signers that every cluster has', () => {
  const {api} = useServer()
  const SIGNERS = [
    'kube-apiserver-client',
    'kube-apiserver-client-kubelet',
    'kubelet-serving',
    'legacy-unknown',
  ]
  const controller: Impersonated = {
    user: 'system:serviceaccount:kube-system:certificate-controller',
  }
  const bind = async (name: string, role: string, user: string) => {
    const apiGroup = 'rbac.authorization.k8s.io'
    await api().make(`${RBAC}/clusterrolebindings`, {
      metadata: {name},
      roleRef: {apiGroup, kind: 'ClusterRole', name: role},
      subjects: [{apiGroup, kind: 'User', name: user}],
    })
  }
  const made = async (signerName: string) => {
    const beta = CSRS.replace('/v1/', '/v1beta1/')
    const {metadata} = await api().make(beta, csrObject({signerName}))
    return `${CSRS}/${metadata.name}`
  }
  const approve = (path: string, as: Impersonated) =>
    api().patch(`${path}/approval`, {status: {conditions: [condition('Approved')]}}, {as})

  for (const signer of SIGNERS) {
    it(`${signer}-approver may approve for that signer and no other`, async () => {
      const user = `${signer}-approver`
      await allow(api(), user, user, {
        verbs: ['patch'],
        resources: ['certificatesigningrequests/approval'],
      })
      await bind(`${user}-role`, `system:certificates.k8s.io:${user}`, user)
      for (const other of SIGNERS) {
        const {status} = await approve(await made(`kubernetes.io/${other}`), {user})
        assert.equal(status, other === signer ? 200 : 403, other)
      }
    })
  }

  it('the certificate controller may approve kubelet clients only, and sign for all four', async () => {
    const certificate = encoded((await selfSignedPem()).certificate)
    const put = async (path: string, endpoint: string, status: object) => {
      const {body} = await api().get(path)
      const object = {...body, status: {...body.status, ...status}}
      return (await api().put(`${path}${endpoint}`, object, {as: controller})).status
    }
    const conditions = [condition('Approved')]
    for (const signer of SIGNERS) {
      const path = await made(`kubernetes.io/${signer}`)
      const isKubelet = signer === 'kube-apiserver-client-kubelet'
      assert.equal(await put(path, '/approval', {conditions}), isKubelet ? 200 : 403, signer)
      assert.equal(await put(path, '/status', {certificate}), 200, signer)
    }
    const foreign = await made('example.com/x')
    assert.equal(await put(foreign, '/approval', {conditions}), 403)
    assert.equal(await put(foreign, '/status', {certificate}), 403)
  })
})
