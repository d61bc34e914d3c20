import assert from 'node:assert/strict'
import fc from 'fast-check'
import {isPermitted} from '../../src/csr/request-rules.ts'
import {contentOf} from '../../src/csr/requested-certificate.ts'
import {KUBELET_CLIENT, SIGNER_RULES} from '../../src/csr/signers.ts'
import {clientCertificate, clientRequest, requestName} from '../../src/node/client-certificate.ts'
import {generateKeys} from '../../src/pki/keys.ts'
import {parseRequest, verifyRequest} from '../../src/pki/request.ts'

describe('the certificate request of a node', () => {
  it("is named as the kubelet's", () => {
    // Made by another program: SHA-512/256 over each part in base64url and a bar.
    assert.equal(
      requestName(clientCertificate('one'), Buffer.from('0Ypublic key')),
      'node-csr-Be0_jBnY8uhmfWwCQ7cpoan58sg67AxLOZyjJBOHvJE',
    )
  })

  it('has another name for whatever else is asked for', () => {
    const text = fc.string({maxLength: 12})
    const asked = fc.record({
      key: fc.uint8Array({maxLength: 8}),
      commonName: text,
      organizations: fc.array(text, {maxLength: 2}),
      usages: fc.array(text, {minLength: 1, maxLength: 2}),
    })
    const nameOf = ({key, commonName, organizations, usages}: Asked) =>
      requestName({subject: {commonName, organizations}, usages}, key)
    type Asked = typeof asked extends fc.Arbitrary<infer Value> ? Value : never
    fc.assert(
      fc.property(asked, asked, (left, right) => {
        // Where the lists end is not part of the name, as in the kubelet's.
        const partsOf = ({key, commonName, organizations, usages}: Asked) =>
          JSON.stringify([...key]) + JSON.stringify([commonName, ...organizations, ...usages])
        assert.equal(nameOf(left) === nameOf(right), partsOf(left) === partsOf(right))
      }),
    )
  })

  it('has the shape that approvers know, and is signed by its key', async () => {
    const keys = await generateKeys()
    const {spec} = await clientRequest('one', keys)
    const request = parseRequest(Buffer.from(spec.request, 'base64').toString())
    await verifyRequest(request)
    assert.ok(isPermitted(contentOf(request, spec.usages), SIGNER_RULES[KUBELET_CLIENT]))
    assert.equal(request.subject.commonName, 'system:node:one')
    assert.ok(request.publicKey.equals(keys.publicKey))
  })
})
