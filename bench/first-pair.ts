import {clientCertificate} from '../src/node/client-certificate.ts'
import {issueLeaf, type Issuer} from '../src/pki/issuer.ts'
import {generateKeys, privateKeyPem} from '../src/pki/keys.ts'
import {LEAF_LIFETIME, validityFor} from '../src/pki/lifetimes.ts'
import {NO_NAMES} from '../src/pki/subject-names.ts'

/** The first certificate of a node, as it is after the node has joined. */
export async function firstPair(
  name: string,
  issuer: Issuer,
  now: Date,
  lifetime = LEAF_LIFETIME,
): Promise<{certificatePem: string; keyPem: string}> {
  const {publicKey, privateKey} = await generateKeys()
  const certificatePem = await issueLeaf(issuer, {
    subject: clientCertificate(name).subject,
    names: NO_NAMES,
    publicKey,
    usages: ['digital signature', 'client auth'],
    validity: validityFor(now, lifetime, issuer.certificate.notAfter),
  })
  return {certificatePem, keyPem: privateKeyPem(privateKey)}
}
