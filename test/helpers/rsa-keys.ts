import {createPrivateKey, createPublicKey} from 'node:crypto'
import type {KeyPair} from '../../src/pki/keys.ts'

/** The primes of keys that protect nothing, to the base 36. */
const PRIMES = {
  2048: [
    [
      '14bxeh2e8s2or5fugtxpxmw9m63i6r1k7pdgbvdo8s0ow7ikl9ulu0k2rfi9wc4swp3b68pumvx0k4b67zfhfhet868z',
      'h4lhdzdd9ml834mk38b72pyzlxpcudzqsf9dxtwazu6111bf9sz5cp2vlsg3g6u4qvjzj16v3rxurxy2psssi9be9oro',
      '3bswfdmdf3xc5nz',
    ],
    [
      '12gx3klxtr1hy6pcpdhr28xuboa3uyhv8bavbret4f3kj726bo9oup6mlmivgyu24mp59n1296m16gp290vsil5rpzgt',
      '9fovvqa1km72n5txtj1n9e3l7jx95ligdoooy39fpkpfpq4g5coqf64f6wri0tlj6peigd5lrbm7v24myfabw7xdd3qc',
      'ckycur4dkgko73j',
    ],
  ],
  3072: [
    [
      '147tcrdxbt7py601eyligvaub84yerq3e30mhdr9j4m6pbzjlqs492yck7b7n3qdizp0d3nsrnn3o002b07iw38rjfc5',
      'a6rqv8ublbelsdusikoypxfg0knft0l3l6ppexht1pklguwkmgdu0nz7ljz02zy1brmo31i3f0ixq8pyogmdyi5ogkje',
      '3i1fdymrjqtwfv6t6yh40nesd9o21q1jdivfthtru8xyu65nsw0ftfz51iuo8fhs76eunnb6cdzesknaf35krx2trsoi',
      '8os5tor4fvg73sno7bd2jh',
    ],
    [
      '1fq2jih0v7kjm6nbac5xaun1fzqc2catg2mw5k5trr60gqpkpreo31lnz5b4uv4a9qdme1j03lk60p5cpnwm66ro15kf',
      'aboylwpliif5urbwjikna0piwu20320h79b88ghw6ckowd67uxvizo4uv4zlrliiw57xaedd6u7ix811pdfylorqniy0',
      'hq36y7o3870yh8333jlpacrd8mt76jhwxirrxy69qiw4wy1vtwsenx4aq2jwstkc7bxcgdfn60uloxp0f9t99u3ocwpw',
      'fxuc9935kr7am0z17w3gk5',
    ],
  ],
  4096: [
    [
      '1mr61ozd0hkiw52yaxvxtief4eiasell4mhcczi794lmrbagw1iekwpjdefgqdizbplg5eu0dx9v4p77fofntfky6ffs',
      '6t3e9jnc5o3qj6ywl3822u5470i9tq716h4l5waogr4cbpld6653iuaobfvcyrvuikfylq0f3su8o5lpvc812i8clo68',
      'wrnfpzp2zdaumseq0rp4vceqdwffiljuh2t7h3j6uuzwuv2o3acqm8s3xkwpjreg7u9abu0dq1wfjruhii6ucz88tg3p',
      'ngti1rvueni2x4szd05jrmm44tcs5w1hoc2tgzjcbphht5z2wxtqidbsy5lw70hlff3o79fx6vb94g8almaz7tysk8a0',
      'cn3lwb78qau357a8wzj9nkgobfs0j',
    ],
    [
      '1kj0814jj1ih11aw7w15g6k0zhqvo9m3e24ofxhx5eezz5zztxv0i6j65jxt5x66abvbixie2bj1fl2sx33vppu05ov6',
      'kyxutk840g4pnjntdh4ey5g6grc3mh3lipa9cfk9924iufr7jool74940elyi8grc2oj0bcw3x6kct3mmsvfojee326o',
      'rpfhhp2fq4m2uzxva5o0omsw11zqgif4pgw78q22sae72v3wccnzj6s9p2u29431p9dkw9xu22cl7cqt4v7j24j9vga1',
      'hr4zxgtdqlj19uv0klj56rcd9kxnzrdj8pz1gtaxh1kn7zybf4464wdfi3f6lygqhcdbya4tspw36kk0zkioos72rvww',
      'wqe8z80lti8owx9z3g00zixf2lo2b',
    ],
  ],
} as const

const EXPONENT = 65_537n

const keys = new Map<number, KeyPair>()

/**
 * An RSA key for tests that are not about making one, which takes up to seconds of processor time. It is always the same for a
 * number of bits.
 */
export function rsaKeys(bits: keyof typeof PRIMES = 2048): KeyPair {
  const known = keys.get(bits) ?? fromPrimes(PRIMES[bits])
  keys.set(bits, known)
  return known
}

type Digits = readonly string[]

function fromPrimes([first, second]: readonly [Digits, Digits]): KeyPair {
  const [p, q] = [numberOf(first.join('')), numberOf(second.join(''))]
  const d = inverse(EXPONENT, (p - 1n) * (q - 1n))
  const numbers = {
    n: p * q,
    e: EXPONENT,
    d,
    p,
    q,
    dp: d % (p - 1n),
    dq: d % (q - 1n),
    qi: inverse(q, p),
  }
  const words = Object.entries(numbers).map(([name, value]) => [name, base64url(value)])
  const privateKey = createPrivateKey({
    key: {kty: 'RSA', ...Object.fromEntries(words)},
    format: 'jwk',
  })
  return {privateKey, publicKey: createPublicKey(privateKey)}
}

const numberOf = (text: string): bigint =>
  Array.from(text).reduce((sum, digit) => sum * 36n + BigInt(Number.parseInt(digit, 36)), 0n)

function base64url(value: bigint): string {
  const hex = value.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex').toString('base64url')
}

/** The number that gives 1 if it is multiplied with the value, modulo another number: Euclid's algorithm. */
function inverse(value: bigint, modulus: bigint): bigint {
  let [left, right, factor, next] = [modulus, value % modulus, 0n, 1n]
  while (right !== 0n) {
    const quotient = left / right
    ;[left, right] = [right, left - quotient * right]
    ;[factor, next] = [next, factor - quotient * next]
  }
  return ((factor % modulus) + modulus) % modulus
}
