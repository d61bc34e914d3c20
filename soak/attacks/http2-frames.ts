import {HTTP2_FLOODS, pour} from '../../test/helpers/http2-floods.ts'
import {ANONYMOUS, type Attack} from '../attack.ts'
import {inTurn} from './bodies.ts'
import {openSocket} from './sockets.ts'

const FLOODS = Object.entries(HTTP2_FLOODS)

/** Frames that cost the receiver more than the sender. */
export const http2Frames: Attack = {
  name: 'http2-frames',
  aim: `floods of ${Object.keys(HTTP2_FLOODS).join(', ')}, without credentials`,
  run: ({holdings, flood, count}) =>
    flood({perSecond: 5, atOnce: 3}, async (number) => {
      const [name, bytes] = inTurn(FLOODS, number)
      const socket = await openSocket(holdings, ANONYMOUS, 'h2')
      try {
        count((await pour(socket, bytes)) ? `${name}: taken` : `${name}: closed`)
      } finally {
        socket.destroy()
      }
    }),
}
