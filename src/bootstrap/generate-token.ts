import {randomInt} from 'node:crypto'
import {
  TOKEN_CHARACTERS,
  TOKEN_ID_LENGTH,
  TOKEN_SECRET_LENGTH,
  type BootstrapToken,
} from './token.ts'
import {weaknessOf} from './weak-token.ts'

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
