import type {TokenKeys} from '../../trust/token-keys.ts'

export const JWKS_PATH = '/openid/v1/jwks'
export const DISCOVERY_PATH = '/.well-known/openid-configuration'

/** What relying parties read to verify service-account tokens. */
export function openidConfiguration(issuer: string, jwksUri: string, keys: TokenKeys) {
  return {
    issuer,
    jwks_uri: jwksUri,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [
      ...new Set(keys.verification.map(({algorithm}) => algorithm)),
    ].sort(),
  }
}

/** The public keys as a JSON Web Key Set (`application/jwk-set+json`). */
export function jsonWebKeySet(keys: TokenKeys) {
  return {
    keys: keys.verification.map(({id, key, algorithm}) => ({
      use: 'sig',
      kty: key.asymmetricKeyType === 'rsa' ? 'RSA' : 'EC',
      kid: id,
      alg: algorithm,
      ...key.export({format: 'jwk'}),
    })),
  }
}
