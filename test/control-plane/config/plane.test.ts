import assert from 'node:assert/strict'
import {endpointOf} from '../../../src/control-plane/config/plane.ts'
import {complete, type Choices} from '../../../src/control-plane/config/settings.ts'

const endpoint = (choices: Choices) => endpointOf({settings: complete('/srv/plane', choices)})

describe('endpointOf', () => {
  it('is the address and the port', () => {
    assert.equal(
      endpoint({advertiseAddress: '192.0.2.1', bindPort: 7000}),
      'https://192.0.2.1:7000',
    )
  })

  it('has an IPv6 address in brackets', () => {
    assert.equal(endpoint({advertiseAddress: '2001:db8::1'}), 'https://[2001:db8::1]:6443')
  })

  it('is the stable name with the port of the server', () => {
    assert.equal(
      endpoint({controlPlaneEndpoint: 'api.example', bindPort: 7}),
      'https://api.example:7',
    )
  })

  it('is the stable name with a port of its own', () => {
    assert.equal(
      endpoint({controlPlaneEndpoint: 'api.example:443', bindPort: 7}),
      'https://api.example:443',
    )
  })
})
