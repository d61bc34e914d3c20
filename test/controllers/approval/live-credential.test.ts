import assert from 'node:assert/strict'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {
  credentialRule,
  withCredentialRule,
} from '../../../src/controllers/approval/live-credential.ts'
import {
  type BootstrapCertificate,
  createBootstrapCertificate,
} from '../../../src/control-plane/bootstrap-credentials/create.ts'
import {bootstrapperUser} from '../../../src/csr/bootstrapper.ts'
import {certificateCredential, CREDENTIAL_ID} from '../../../src/csr/user-extra.ts'
import {TrustError} from '../../../src/errors.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {fixedClock} from '../../pki/support.ts'

const jwt = (claims: object) =>
  `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.signature`
const encode = (text: string) => Buffer.from(text).toString('base64')

describe('whether a bootstrap credential is live', () => {
  let certificate: BootstrapCertificate
  let fingerprint: string
  before(async () => {
    certificate = await createBootstrapCertificate('kube-system', fixedClock())
    ;({fingerprint} = parseCertificate(certificate.certificate))
  })

  const mapWith = (data: Record<string, string>) => ({metadata: {}, data})
  const secretWith = (token: string) => ({metadata: {uid: 'u'}, data: {token: encode(token)}})
  const known = () =>
    mapWith({
      'ca-bundle.crt': certificate.authority,
      [`${fingerprint.slice(0, 12)}.crt`]: certificate.certificate,
    })
  const ruleFor = async (
    credential: string | undefined,
    {
      map,
      secret,
      user = bootstrapperUser('kube-system'),
    }: {map?: object; secret?: object; user?: string},
  ) => {
    const found = (object: object | undefined) => ({find: () => Promise.resolve(object)})
    const client = {configMaps: found(map), secrets: found(secret)} as unknown as ApiClient
    const extra = credential === undefined ? {} : {[CREDENTIAL_ID]: [credential]}
    const spec = {request: '', signerName: '', username: user, extra}
    return await credentialRule(client, {spec}, {})
  }
  const holds = async (...args: Parameters<typeof ruleFor>) => (await ruleFor(...args))?.holds

  it('is no question for any other requester', async () => {
    assert.equal(await ruleFor(undefined, {user: 'system:bootstrap:abcdef'}), undefined)
    const user = 'system:serviceaccount:default:node-bootstrapper'
    assert.equal(await ruleFor('JTI=1', {user}), undefined)
  })

  it('is yes for the certificate whose CA the ConfigMap names, and no for another', async () => {
    assert.equal(await holds(certificateCredential(fingerprint), {map: known()}), true)
    assert.equal(await holds(certificateCredential('ab'.repeat(32)), {map: known()}), false)
  })

  it('is no once the ConfigMap or its CA is gone, even if the certificate is still in it', async () => {
    const credential = certificateCredential(fingerprint)
    assert.equal(await holds(credential, {}), false)
    const {authority} = await createBootstrapCertificate('kube-system', fixedClock())
    const leafOnly = mapWith({...known().data, 'ca-bundle.crt': ''})
    assert.equal(await holds(credential, {map: leafOnly}), false)
    const other = mapWith({...known().data, 'ca-bundle.crt': authority})
    assert.equal(await holds('JTI=1', {map: other}), false)
  })

  it('is yes for the token in the Secret, and no for the one that it replaced', async () => {
    const secret = secretWith(jwt({jti: 'new'}))
    assert.equal(await holds('JTI=new', {secret}), true)
    assert.equal(await holds('JTI=old', {secret}), false)
    assert.equal(await holds('JTI=new', {}), false)
  })

  it('is no while the Secret is empty', async () => {
    assert.equal(await holds('JTI=old', {secret: secretWith('')}), false)
    assert.equal(await holds(undefined, {secret: secretWith('')}), false)
  })

  it('is yes where the request does not tell which one it is, as long as there is one', async () => {
    const unnamed = secretWith(jwt({}))
    const foreign = mapWith({'ca-bundle.crt': certificate.authority})
    assert.equal(await holds(undefined, {secret: unnamed}), true)
    assert.equal(await holds(undefined, {}), false)
    assert.equal(await holds(undefined, {map: foreign}), true)
  })

  it('is no for one that is known and not live, even beside one that cannot be told', async () => {
    const secret = secretWith(jwt({}))
    const {authority} = await createBootstrapCertificate('kube-system', fixedClock())
    const map = mapWith({'ca-bundle.crt': authority})
    const credential = certificateCredential(fingerprint)
    for (const one of ['JTI=1', credential]) {
      const rule = await ruleFor(one, {map, secret})
      assert.deepEqual([rule?.holds, rule?.reason], [false, `${one} is none of the live ones`])
    }
    const beside = mapWith({...known().data, 'ca-bundle.crt': authority + certificate.authority})
    assert.equal(await holds(credential, {map: beside}), true)
  })

  it('is not known where the approver may not read it, and then nothing is approved', async () => {
    const refused = {find: () => Promise.reject(new TrustError('FORBIDDEN', 'not you'))}
    const client = {configMaps: refused, secrets: refused} as unknown as ApiClient
    const spec = {request: '', signerName: '', username: bootstrapperUser('kube-system')}
    const rule = await credentialRule(client, {spec}, {})
    assert.deepEqual([rule?.holds, rule?.reason], [false, 'not known: not you'])
  })

  it('turns an approval into a hold, and leaves other decisions as they are', async () => {
    const rule = await ruleFor('JTI=1', {})
    const opinion = (decision: 'approve' | 'hold' | 'ignore' | 'deny', reason?: string) =>
      withCredentialRule({approver: 'a', decision, rules: [], ...(reason && {reason})}, rule)
    const {decision, reason} = opinion('approve')
    assert.deepEqual([decision, reason], ['hold', 'CredentialRevoked'])
    assert.equal(opinion('hold', 'NoMachine').reason, 'NoMachine')
    assert.equal(opinion('ignore').rules.length, 0)
    assert.equal(opinion('deny').decision, 'deny')
  })
})
