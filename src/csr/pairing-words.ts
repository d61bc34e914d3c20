import {scrypt} from 'node:crypto'
import type {CertificateSigningRequest} from '../api/certificates.ts'
import {parseBundle} from '../pki/bundle.ts'
import {pinOf} from '../pki/pins.ts'
import {parseSpecRequest} from './read-request.ts'

/**
 * The words that two people compare before one of them approves a request: 2,048, so that each says 11 bits. They are short, and no
 * two of them sound alike: as they are spelled, and as they sound, any two differ in at least two letters, and none begins another.
 */
export const PAIRING_LIST = `
abacus abbey abdomen abide aboard abrupt absent absorb absurd abyss acacia academy accept acclaim acetone acorn acquire
acrobat across action actor adagio adapt adhere adjust admire adobe adult advance advice aerial aerobic affair affirm afford
afraid agency agenda aglow agree ahead airbag airmail airport airship aisle alarm albino album alchemy alcove alert alfalfa
algebra alibi alien alike almanac almond aloft alpha alpine always amaze amber ambient amend among amount ample amplify
anagram analog anchor ancient android angle animal annex anorak answer antenna anthem antique antler anvil anyone anyway
apology apparel appeal applaud apricot apron aquatic arcade archer archive arctic arena argue armada armor aroma arrow artery
artful artist ashore aspect aspen asphalt assist assort athlete atlas atomic atrium attach attempt attract auburn audio august
aura autumn avenue aviator avocado avoid awake award awesome awkward awning axiom axle azalea azure baboon backup badge baffle
bagel bagpipe bakery balance balcony ballad ballet bamboo banana bandage bandit banjo banner banquet barber bargain barista
barley barn basalt basil basket bathtub bazaar beacon beagle beaker beanbag beast bedrock beeswax beetle begin begonia behave
behind believe bellboy bellhop bellow belly belong bench benefit beside better bicycle bighorn binder bingo biology biplane
birch birdie biscuit bison bistro blanket blaze blend blimp blink block blossom bluff boat bobcat bobsled bogey boiler bolster
bonanza bonbon bonfire bonnet bonsai bonus bookend border borough borrow botany bounce bouquet bowl bowtie boxcar boxer
bracket branch brave brawny breath breeze brick bridal brigade bright brisket bristle broad broken bronco bronze broom brother
brownie brush bubble bucket buddy budget buffalo buggy builder bulb bulldog bullion bumper bundle bunker burger burlap burrito
bushel bustle butler button buzzer bygone bypass byway cabbage cabin cable cactus cadence cadet calcium caliber calico calm
camel camera campus canal canary candid candor candy canoe canopy canvas caper capital capsule captain caramel caravan carbon
caress cargo caribou carpet carport carrot carve cascade cashew casino cassava castle catalog catch caterer catfish cathode
catnip cavern caviar cedar celery cello cement census central ceramic certain chain chalk chance chapel chapter chariot charm
chateau cheese cheetah chemist cherry chevron chili chime chimney chirp chisel choir chop chorus chuckle chunk chutney cider
cinema circle circus citadel citizen citrus city civic clam clasp classic clear clerk clever client cliff climate climb clinic
clipper cloak cloth cloud clump cluster coastal coaster cobalt cobbler cobra cobweb cockpit cocoa coconut codfish coffee coil
collar collect collie colony comedy comet comfort comic comma compact compass compost compute concave concert conch confide
confirm console consult contest contour convex convoy coolant copilot copycat coral cork corner corsage corsair cosmos cottage
cotton cougar count courier cousin cover cowbell cowboy cozy cradle craft crane crater crazy cream credit crepe crest crevice
crib cricket crimson crisp crochet crocus croquet crouton crowbar crowd cruise crumb crunch crystal cube cubicle cuddle
culture cupcake curator curfew curious curry cushion cusp custom cutlery cutlet cutout cyborg cycle cyclone cypress dainty
dairy damage damp daring dart dash data dawn dean debate decade decent decibel decimal deck decor defend degree delight
deliver delta deluxe denim dense dentist denture depart deploy depot depth deputy derby derive design detach detail detect
detour develop device dewdrop diadem diagram diamond dictate diesel digital dignity dimple diner dinghy diploma direct disco
display distant ditch ditto divide doctor dodge dogwood dollop dolphin domain domino donkey donor doodle doormat dorm double
dozen dragon drain drama drape drawer drift drizzle drum duchess dugout duplex durable dust duty duvet dynamo eager earlobe
early earmuff earnest earring earth easily eastern easy echo eclair eclipse ecology edible effect eggcup eggnog eight elapse
elastic elbow eldest elegant element eleven elite elixir elope embark embassy emblem embrace emerald emotion empathy emperor
empire employ empty enable enamel encore endorse endure energy engage engine engrave enigma enjoy enlist enough enroll enter
entry enzyme epic episode epoxy equal equator equinox equip erase erode erupt escape essay estate esteem eternal ethics eureka
evening event everest every evolve exact example exceed excerpt excite exhibit exodus exotic expand expert explain expose
express extend extra eyebrow eyelash fabric factory faint faith falcon family famous fancy fanfare farmer fashion father
faucet favor federal fedora felt fennel ferment fern ferret fetch fiber fiction fiddle field fiesta figment figure film filter
finch finesse finger finish firefly first fishing five flair flake flannel fleece flight flip float floral flow fluffy fluid
foam focus foliage forage force forearm forest forever forget formal formula fortune forum forward fossil foxtrot fragile
frame freckle freedom freight frenzy fresco fresh friday fridge frigate frisbee frog frost fruit fudge fund furnace future
fuzzy gadget galaxy gallery gallon gamma gangway garage garden gargle garland garlic garment garnet gauze gazebo gear gecko
gelatin gemini general genius gentle genuine geode geology geyser giant giggle ginseng giraffe gizmo glacier glance gleam glee
glide glimmer glimpse glint globe glory glucose gnarled gnome goblet goggles golden golf gondola gong good gopher goulash
gourmet govern grade grammar grandma granite grapple grasp gravity gravy green griffin grocery groove grotto ground group
growth guard guava guitar gully gumbo gumdrop gusto gymnast habit hacksaw haddock hairpin halibut halt hamlet hammer hamster
handbag handle hang happy harbor hardly harmony harness harp harvest hatbox haven hawk haywire hazel health heap heart heather
heavy hedge helipad helium helmet helper hemlock herald herbal herd heron hexagon hiccup hickory highway hiking hilltop hinge
history hobby hockey hold holiday hollow home honest horizon hornet hostel hound house hubcap human humble humdrum humid
hummus hunch hundred hurdle husky hybrid hydrant hymn iceberg icebox icicle icing icon ideal idiom igloo ignite iguana image
imagine impact impala import impress improve inbound incense include income indeed index indigo indoor induce infant inform
ingot inhale initial inkblot inkpad inkwell inland input insect inside insight install instant intact intend intern intro
invent invite invoice inward iris irony issue italic item ivory jackal jackdaw jacket jackpot jaguar january jargon jasmine
javelin jawbone jaywalk jeans jersey jewel jigger jigsaw join joker jolly journal journey joust jovial joyful jubilee juice
jukebox jump jungle junior juniper jupiter jurist justice karaoke kelp kestrel ketchup keynote kickoff kiln kimono kindly
kinetic kingdom kingpin kiosk kiwi kneecap knitted knock koala kumquat label labor lacquer ladder ladle ladybug lagoon lambda
landing lantern laptop large lasagna lasso laugh launch laundry lava lawyer leaflet league learn leave lecture ledger left
legacy legend leisure lemon lemur length lentil leopard level lexical lexicon library license lilac limit liquid listen liter
litmus little lively lizard load lobster local lockbox locust logbook logic lotion lotus lounge lucky luggage lullaby lumber
lunar lung luxury lyric macaw machine magenta magic magma magnet magnify magnum magpie mahjong mailbox major make mallard
mammoth manage mango manhole mansion mantis manual marble march margin marina market maroon marquee marvel mascara mascot
masonry master matrix maximum meadow meal meaning medium melody melon member memoir memory menthol mentor menu mercury merge
mermaid message method metric midday midst migrate mild mimic mineral minibus minimum minnow minute miracle mirror miso mitten
mixer mixture mobile mocha model modern modest moment monarch monday money monitor monocle monsoon moped morning mortar mosaic
moss mother motor mouth movie mudflat muffin muffle mural museum music muskrat mustard mutual mystery mystic nachos name
napkin narwhal nation natural navy nebula necktie nectar needle neon nephew nestle network neutral never newborn news newton
nibble nickel niece ninja nobody nomad nonstop north nostril notable notepad nothing notice nougat nova novel nozzle nugget
nurse nutmeg nylon oasis oatcake oatmeal object oblige oblong oboe observe obtain obvious occupy occur ocean ocelot octagon
octane october octopus oddball offbeat office offload offset often oilcan oilskin okra olive omega omelet omit onion onyx opal
open opera opinion opossum optic oracle orange orbit orchard orchid oregano organ orient origami origin osprey ostrich otter
ottoman outback outdoor outfit outgrow outline outpost output outset outside overall overdue overlap owner oxcart oxygen
oyster pacific package padlock pagoda paisley pajama palace pancake panda panel panther pantry pants papaya paprika parade
paradox parasol parcel pardon parent parfait parka parody parsnip partner party passkey pasta path patient patio patrol
pattern payment peach peacock peanut pearl pebble pecan pelican pencil penguin pepper perfect perfume period permit person
pesto petunia phone photo physics piano piccolo pickle picnic picture pigeon pigtail pilgrim pillow pinball pipe piston
pitcher pivot pizza placard placid planet plank plaque plasma plaster plate playful playpen pledge plenty pliers plumage
plunge plural plush plywood pocket podium poetry pogo pointer polecat polish polka polygon pompom poncho pond pontoon popcorn
poplar poppy porch portal postage potato poultry powder prairie praise prawn precise prefer prefix premium prepare present
pretzel preview primary prince prism private probe problem produce profile program project promise prompt pronoun proper
protein proud proverb provide public puck pudding pulley pulpit pulsar puma pumpkin pupil puppet purple purpose pushpin puzzle
pyramid quail quality quantum quarry quarter quartz queen quiche quiet quince quintet quirk quiver quota raccoon racer radar
radish rafter ragtime railcar rainbow raisin rally ramble ramen rampart random ranger rapid rattle ravine ravioli react ready
realm reason rebound rebuild recall receipt recipe recital record recover recycle redcap redwood reef refill reflect reform
refrain refuge regard regatta reggae regular relax relief relish remain remedy remote renew rental repair repeat replace reply
report reptile rescue reserve respect result retina retire retro return reunion reveal revive rhino rhubarb rhyme ribbon ride
rigid ringlet ripple rival river roar roast robin robot robust rodeo roller romance rookie rooster rosebud rosette rotate
roundup route rowboat royal rubber ruckus rugby rumor runway rustic safari saffron saga sailor salmon salsa salute salvage
sandal sandbar sandbox sapling sardine satchel saturn sausage savanna save savory sawdust scale scallop scamper scarf scenic
scholar school scoop scooter scout scrap screen script scroll scrub scuba seafood search seat seaweed second secret section
sector seesaw select senator sequel sequoia series serve service session seven sextant shade shadow shaft shampoo shark shawl
sheep shelf shelter sherbet sheriff shimmer shindig shine shirt shoebox shower shrimp shutter shuttle sibling sienna signal
silent silicon silk silver similar sincere single siphon sirloin sister sitcom sixteen sketch skillet skim skipper skylark
skyline skyward slab slalom sleek slender slice sling slogan slot sludge smart smile smooth snack snail snapper sneaker
snippet snorkel snowman snug soak soapbox soda soft sojourn soldier solemn solid someone sonar soprano sorbet soup source
soybean space spaniel sparrow spatula speak special speed sphere spinach spinet spiral spirit splash split sponge sport spray
spread sprig sprint sprout spruce spur squad squeak squirt stable stadium staff stamp stand stapler station statue steam
stencil stereo stick stirrup stone storage stork straw street stride string strudel stucco student studio sturdy style stylish
subject sublime submit suburb subway success sudden suede sugar suggest sulfur sultan summer sunbeam sunburn sundae sundial
sunrise sunroof sunspot supply supreme surface surfer surname survey sushi suspend swan sweater swell swift swirl swivel
symptom syntax syrup system tabasco tablet tabloid tackle tadpole takeoff talent tamale tandem tangent tanker tape tapioca
tariff tarmac tartan taskbar taste taxi teacher teacup teapot teddy temper temple tempura tenant tender tenor tent terrier
textile texture thank thaw theater theme thermal thimble thinker third thistle thorn thread three thrifty thrive throng thumb
thunder tiara ticket tidal tiger timber timid tinfoil tinsel tiny tiptoe today toddler toehold tofu toggle token tomato tongue
tonic toolbox tooth topaz tornado torque total toucan touch tourist toward towel towline town track tractor traffic trail
transit trapeze travel trawler treat treetop trellis tremble trend trident trifle trilogy trinket trio triplet tripod triumph
trolley troop trophy trumpet trust truth tuba tuesday tuft tugboat tulip tumbler tundra tune tunnel turban turf turkey turnip
turret turtle tutor tutu tuxedo tweed twelve twenty twice twosome tycoon typical ukulele ultra uncle undergo unfold unicorn
uniform unique unity unknown unlock unpack unravel until unusual upbeat update upgrade uphill upkeep uplift upper upright
uproar upstage upswing upward urchin urgent usable useful usual utility utopia vacant vaccine vacuum valiant valley vanilla
vapor variety vehicle velcro velvet vendor veneer veranda verbena verdant verdict verse version vessel vest veteran vibrant
victory video vigil vigor villa vinegar vintage vinyl violet violin viper virtue visible visit vista visual vital vitamin
voice volcano volt volume waiter walkway wallaby walnut walrus waltz wander warbler warmth warthog wasabi washer washtub
waxwing wayside weaver website wedding weekday weekend welcome welder western whale wharf whimsy whisper white whoosh wicker
wigwam wildcat window wing winter wisdom wisp wobble wombat world worthy xenon yacht yardarm yeti yogurt yonder young yucca
zebra zephyr zesty zigzag zodiac zoology
`
  .trim()
  .split(/\s+/)

const WORDS = 4
const BITS_PER_WORD = 11
/**
 * Four words say 44 bits. Whoever wants a key of their own to have the words of another has to try about 2^44 keys, and this makes
 * each try cost 8 MiB and tens of milliseconds.
 */
const COST = {N: 2 ** 13, r: 8, p: 1}
const BYTES = 6
const PURPOSE = 'trustadm pairing words 1'

const slowHash = (secret: Uint8Array, salt: string): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(secret, salt, BYTES, COST, (error, key) => {
      if (error) reject(error)
      else resolve(key)
    })
  })

/**
 * The words by which two people recognize a request and the cluster, made from its key and from all CAs that its reader trusts for
 * the cluster. All of them count: a false server could send the real CA besides its own. Their order does not.
 */
export async function pairingWords(
  publicKeyDer: Uint8Array,
  ca: string | undefined,
): Promise<string> {
  const pins = ca === undefined ? [] : [...new Set(parseBundle(ca).map(pinOf))].sort()
  const hash = await slowHash(publicKeyDer, [PURPOSE, ...pins].join('\n'))
  const number = BigInt(`0x${hash.toString('hex')}`)
  const wordAt = (_: unknown, index: number) =>
    PAIRING_LIST[Number(BigInt.asUintN(BITS_PER_WORD, number >> BigInt(BITS_PER_WORD * index)))] ??
    ''
  return Array.from({length: WORDS}, wordAt).join(' ')
}

/** The words of a request; undefined if it cannot be read. */
export async function requestWords(
  {spec}: Pick<CertificateSigningRequest, 'spec'>,
  ca: string | undefined,
): Promise<string | undefined> {
  const verdict = parseSpecRequest(spec.request)
  return 'request' in verdict ? await pairingWords(verdict.request.publicKeyDer, ca) : undefined
}
