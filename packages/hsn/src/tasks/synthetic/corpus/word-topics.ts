/** A small subject and clauses about it, each of which can stand before and after any other. */
export interface Topic {
  name: string;
  phrases: readonly string[];
}

export interface Theme {
  name: string;
  topics: readonly Topic[];
}

/** A line for each theme, and one for each of its topics with clauses about it; what is indented goes on with the line above. */
const WRITTEN = `
# home
kitchen: the kettle starts to sing; soup simmers on the stove; she chops an onion; flour covers the table;
  the oven door creaks open; a spoon falls to the floor
breakfast: toast pops up too dark; he pours the milk; honey drips on the plate; two eggs fry in butter;
  the coffee is strong today; jam sticks to every finger
garden: tomatoes ripen along the wall; he waters the roses; weeds grow faster than beans; a robin watches
  from the spade; the hedge needs a trim; she plants three rows of carrots
cleaning: dust dances in the light; the vacuum cleaner roars; he mops the hall; clean sheets hang on the
  line; the window finally shines; socks lose their partners again
pets: the cat sleeps on the letters; the dog begs for a walk; a hamster runs in its wheel; paws leave mud
  on the carpet; the parrot repeats every word; she brushes the old spaniel
bedtime: grandfather reads one more story; the night lamp glows; somebody yawns on the stairs; she pulls
  the blanket up; the house grows quiet; a child asks for water
# nature
rain: rain drums on the roof; puddles fill the lane; dark clouds roll in; the gutter overflows; umbrellas
  bloom in the square; drops race down the glass
snow: snow settles on the fence; the pond freezes overnight; icicles hang from the barn; a sledge flies
  down the hill; boots crunch along the path; the first flakes fall
forest: an owl calls from the oak; moss covers the fallen trunk; deer step out of the ferns; pine needles
  soften every step; a fox slips between the trees; mushrooms push through the leaves
river: the river bends past the mill; trout rise at dusk; a heron waits in the reeds; stones turn smooth
  in the current; the ferry rope hums; willows trail in the water
mountains: fog hides the summit; goats cling to the cliff; the trail climbs in zigzags; thin air makes
  them slow; an eagle circles over the ridge; a hut appears behind the pass
sea: waves break on the pier; gulls fight over a crust; the tide uncovers the sand; salt dries on the
  skin; a lighthouse blinks far out; crabs hide under the weed
# travel
train: the train leaves on time; a conductor checks the tickets; fields rush past the window; someone
  stands on platform nine; the carriage rocks to and fro; they miss the connection
airport: the gate changes twice; suitcases circle on the belt; passengers wait for boarding; a plane lifts
  off; the pilot greets the cabin; security takes the scissors
hotel: the receptionist finds the key; the lift stops at the fourth floor; their room faces the courtyard;
  a porter carries the bags; the bill includes the minibar; fresh towels lie on the bed
road: the car runs low on petrol; traffic crawls through the tunnel; he reads the map upside down; a lorry
  blocks the lane; the tyre goes flat; they stop at a lay-by
camping: they pitch the tent at dusk; a campfire crackles; mosquitoes find every ankle; the sleeping bag
  is damp; beans heat in the tin; stars crowd the whole sky
sightseeing: the guide lifts her flag; tourists photograph the bridge; the museum opens at ten; postcards
  fill the rack; the cathedral bells ring noon; an old town map costs two coins
# sport
football: the striker shoots wide; the keeper saves the penalty; fans sing behind the goal; the referee
  shows a red card; a corner swings into the box; the derby ends in a draw
tennis: she serves an ace; the ball clips the net; a rally lasts forty strokes; the umpire calls it out;
  he breaks a racket string; the second set goes to a tie-break
running: the marathon starts in drizzle; she laces her shoes tight; his stopwatch shows a record; runners
  reach the final mile; a cramp seizes his calf; the crowd hands out oranges
swimming: swimmers dive from the blocks; she turns at the wall; goggles fog up again; the relay team
  touches first; the pool smells of chlorine; he practises his backstroke
cycling: the peloton climbs the col; a chain slips on the sprint; the yellow jersey attacks; riders lean
  into the curve; a spare wheel arrives late; the bunch catches the breakaway
chess: white opens with the queen pawn; the clock ticks down; black gives up a knight; the endgame looks
  drawn; she castles on the king side; a bishop pins the rook
# work
office: the printer jams again; emails pile up by nine; the meeting runs over; someone waters the plastic
  plant; a deadline moves to Friday; the manager signs the contract
hospital: the nurse checks a pulse; a surgeon washes her hands; the ward is full tonight; patients wait
  for their results; an ambulance arrives; the doctor prescribes rest
school: the teacher wipes the board; pupils hand in their essays; the bell ends the lesson; chalk squeaks
  on slate; a class recites the poem; homework hides in the bag
market: the baker sells the last loaf; prices drop before closing; a customer counts her change; crates of
  apples arrive; the fishmonger shouts; cheese is weighed on brass scales
building: a crane lifts the beam; bricklayers mix the mortar; the scaffold reaches the gable; an
  electrician pulls the cable; plaster dries on the wall; the foreman checks the plans
farm: the tractor pulls the plough; cows line up for milking; hens scatter in the yard; the barley is
  ready to cut; he mends the pasture gate; a lamb is born before dawn
# arts
concert: the orchestra tunes to the oboe; a violin begins alone; the conductor raises his baton; drums
  fade into silence; the choir holds one long note; applause fills the hall
theatre: the curtain rises late; an actor forgets his line; the prompter whispers; painted clouds hang
  above the stage; the villain bows last; velvet seats fold with a thud
cinema: the trailer promises too much; popcorn rustles in the dark; the hero misses the last bus; credits
  roll over black; the projector flickers; subtitles lag behind the dialogue
painting: the painter mixes ochre and blue; a portrait dries on the easel; brushes soak in turpentine; the
  model shifts in her chair; thick varnish darkens the canvas; a sketch becomes a mural
books: the novel opens with a funeral; a librarian stamps the card; pages turn until midnight; the poet
  revises a stanza; a bookmark shows chapter twelve; the detective suspects the butler
dancing: couples waltz around the floor; the band plays a tango; her partner counts the beat; shoes slide
  over polished wood; the ballet class stretches; a slow song ends the evening
`;

/** Everyday themes for `hsn synth --words`: topics are what nodes carry, themes are the communities and labels. */
export const THEMES: readonly Theme[] = WRITTEN.trim()
  .replace(/\n {2}/g, ' ')
  .split(/^# /m)
  .slice(1)
  .map((theme) => {
    const [name, ...topics] = theme.trim().split('\n');
    return { name: name!, topics: topics.map(topicOf) };
  });

function topicOf(line: string): Topic {
  const [name, phrases] = line.split(': ') as [string, string];
  return { name, phrases: phrases.split('; ') };
}
