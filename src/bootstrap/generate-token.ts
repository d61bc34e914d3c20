import {randomInt} from 'node:crypto'
import {TrustError} from '../errors.ts'
import {
  type BootstrapToken,
  TOKEN_CHARACTERS,
  TOKEN_ID_LENGTH,
  TOKEN_SECRET_LENGTH,
} from './token.ts'

/** Secrets that appear in the documentation or tests of Kubernetes or trustadm: they are public, with any id. */
const PUBLISHED = new Set([
  '0123456789abcdef',
  '1234567890abcdef',
  '3f89s0fje9f38fhf',
  '6b6baab1d4a0a171',
  '9r9hcjoqgajrj4gi',
  'c0izixklcxtmnze7',
  'circumnavigation',
  'd09sbcov8ph2amjw',
  'f395accd246ae52d',
  'faddc87f5a5ab458',
])

const FEWEST_DISTINCT = 8
const LONGEST_PERIOD = 8
/** Of the 15 steps from one character to the next. One or two of 100,000 random secrets exceed it. */
const MOST_PREDICTABLE_STEPS = 9

const ORDERS = ['01234567890', 'abcdefghijklmnopqrstuvwxyz', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm']
const PREDICTABLE_PAIRS = new Set([
  ...Array.from(TOKEN_CHARACTERS, (character) => character + character),
  ...ORDERS.flatMap(pairsOf).flatMap((pair) => [pair, pair.charAt(1) + pair.charAt(0)]),
])

interface Weakness {
  found: (token: BootstrapToken) => boolean
  why: string
}

const WEAKNESSES: Weakness[] = [
  {found: ({secret}) => PUBLISHED.has(secret), why: 'it is a published example'},
  {found: ({id, secret}) => secret.includes(id), why: 'its secret repeats its id, which is public'},
  {found: ({secret}) => /^\d*$/.test(secret), why: 'its secret has only digits'},
  {
    found: ({secret}) => new Set(secret).size < FEWEST_DISTINCT,
    why: 'its secret has too few different characters',
  },
  {found: ({secret}) => isPeriodic(secret), why: 'its secret repeats itself'},
  {
    found: ({secret}) => predictableSteps(secret) > MOST_PREDICTABLE_STEPS,
    why: 'its secret follows the alphabet or the keyboard',
  },
]

/**
 * Why the token could be guessed, or undefined. The signature over cluster-info is public, so anyone can try secrets against it
 * without contacting the server: only a random secret withstands that.
 */
export function weaknessOf(token: BootstrapToken): string | undefined {
  return WEAKNESSES.find(({found}) => found(token))?.why
}

/** Refuses a token that could be guessed. kubeadm accepts any. */
export function requireStrongToken(token: BootstrapToken): void {
  const why = weaknessOf(token)
  if (why === undefined) return
  throw new TrustError('TOKEN_WEAK', `the token is easy to guess: ${why}`, {
    hints: [
      'leave out the token to create a random one, or use one from "trustadm token generate"',
      'to use it anyway, add --allow-weak',
    ],
  })
}

function isPeriodic(secret: string): boolean {
  for (let period = 1; period <= LONGEST_PERIOD; period++) {
    if (secret.startsWith(secret.slice(period))) return true
  }
  return false
}

function predictableSteps(secret: string): number {
  return pairsOf(secret).filter((pair) => PREDICTABLE_PAIRS.has(pair)).length
}

function pairsOf(text: string): string[] {
  return Array.from({length: text.length - 1}, (_, start) => text.slice(start, start + 2))
}

/** A new token. `randomInt` uses the CSPRNG, without a bias towards some characters. */
export function generateToken(): BootstrapToken {
  for (;;) {
    const token = {id: randomText(TOKEN_ID_LENGTH), secret: randomText(TOKEN_SECRET_LENGTH)}
    if (weaknessOf(token) === undefined) return token
  }
}

function randomText(length: number): string {
  return Array.from({length}, () =>
    TOKEN_CHARACTERS.charAt(randomInt(TOKEN_CHARACTERS.length)),
  ).join('')
}
