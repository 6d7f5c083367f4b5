"""Topics: synthetic documents of a topic model, to run the text methods without a download."""

from pathlib import Path

import numpy as np

from dekm.datasets.dataset import Dataset, Loaded
from dekm.datasets.tfidf import Scaling, tfidf

# Names of the words most characteristic of each topic, in this order, so that a person can read the clusters;
# the other words are called w0001, w0004, ...
THEMES = {
    "astronomy": """
        star galaxy orbit planet telescope moon comet nebula eclipse supernova asteroid cosmos gravity lunar
        solar meteor satellite universe constellation pulsar quasar redshift spectrum corona crater horizon
        zenith equinox solstice parallax magnitude luminosity observatory astronomer rocket probe lander
        rover shuttle spacecraft mission launch vacuum photon plasma fusion hydrogen helium dwarf giant
        binary cluster void dust halo spiral disk ring axis tilt rotation revolution perihelion aphelion
        ellipse trajectory velocity lightyear parsec infrared ultraviolet radio wavelength interferometer
        mirror lens aperture exposure twilight aurora magnetosphere ionosphere mercury venus earth mars
        jupiter saturn uranus neptune pluto titan europa ganymede callisto phobos sunspot flare meridian
        declination ascension sky
    """,
    "cooking": """
        recipe oven flour butter sugar salt pepper garlic onion tomato basil oregano thyme rosemary parsley
        cinnamon ginger vanilla chocolate cream milk cheese egg dough yeast bread cake pie pastry cookie pan
        pot skillet wok whisk spatula ladle grater knife bowl spoon fork cup tablespoon teaspoon simmer boil
        roast bake grill fry steam poach braise saute marinate knead chop mince dice slice peel stir blend
        sift sauce broth soup stew curry salad dressing vinegar oil olive lemon lime honey syrup rice pasta
        noodle bean lentil chickpea potato carrot celery spinach cabbage mushroom chicken beef pork lamb
        fish shrimp bacon sausage
    """,
    "music": """
        melody rhythm harmony chord tempo guitar piano violin cello viola flute oboe clarinet bassoon
        trumpet trombone tuba horn drum cymbal harp organ orchestra symphony concerto sonata opera aria
        chorus choir soprano alto tenor baritone bass conductor composer overture prelude fugue waltz minuet
        nocturne ballad anthem hymn lyric verse refrain album song singer band jazz blues folk rock reggae
        soul gospel swing ragtime improvise encore concert stage audience applause microphone amplifier
        studio recording vinyl tape mixer producer note sharp flat clef staff bar measure beat meter octave
        interval scale major minor pitch timbre treble tune rehearsal quartet quintet duet
    """,
    "sport": """
        goal team player coach match season league trophy tournament champion medal stadium referee whistle
        penalty foul offside corner kick pass dribble tackle striker goalkeeper defender midfielder football
        soccer basketball baseball hockey tennis golf cricket rugby volleyball badminton swimming diving
        rowing sailing cycling running sprint marathon relay hurdle javelin discus gymnastics wrestling
        boxing judo fencing archery skiing skating snowboard racket bat ball puck net court field track lane
        pool gym training fitness injury score point win loss draw tie final semifinal quarterfinal playoff
        rookie captain bench substitute jersey umpire inning homerun pitcher batter catcher touchdown
        quarterback fan crowd
    """,
}
N_DOCUMENTS, N_WORDS = 2000, 4000


def topics(raw_dir: Path, *, stem: bool = False, scaling: Scaling = "unit") -> Loaded:
    """Sample documents from latent Dirichlet allocation [1]_ with a fixed seed: float32 (2000, 2000), topics.

    The word distribution of each of 4 topics is a Dirichlet sample whose mean, a power law over 4,000 words,
    is common to all topics. A document mixes its own topic, with a weight of at least 0.5, and the others.

    References
    ----------
    .. [1] Blei, D. M., Ng, A. Y., and Jordan, M. I. (2003). Latent Dirichlet allocation. Journal of Machine
       Learning Research, 3, 993-1022.
    """
    rng = np.random.default_rng(20210930)
    common = np.arange(1.0, N_WORDS + 1) ** -0.7
    words_of_topic = rng.dirichlet(400 * common / common.sum(), size=len(THEMES))
    labels = rng.integers(len(THEMES), size=N_DOCUMENTS)
    weights = rng.dirichlet(np.full(len(THEMES), 0.5), size=N_DOCUMENTS)
    weights = 0.5 * weights + 0.5 * np.eye(len(THEMES))[labels]
    lengths = rng.poisson(80, size=N_DOCUMENTS) + 20
    counts = rng.multinomial(lengths, weights @ words_of_topic)
    words = np.array([f"w{i:04d}" for i in range(N_WORDS)])
    documents = [" ".join(words.repeat(row)) for row in counts]
    X, terms = tfidf(documents, stem=stem, scaling=scaling)
    called = names_of_words(words_of_topic, words)
    return Loaded(X, np.array([*THEMES])[labels], features=[called[term] for term in terms])


def names_of_words(words_of_topic: np.ndarray, words: np.ndarray) -> dict[str, str]:
    """What each word is called: those that are most frequent in a topic, against others, are of its theme."""
    names = {str(word): str(word) for word in words}
    for topic, theme in enumerate(THEMES.values()):
        excess = words_of_topic[topic] - np.delete(words_of_topic, topic, axis=0).max(0)
        names |= zip(words[np.argsort(-excess, kind="stable")].tolist(), theme.split(), strict=False)
    return names


TOPICS = Dataset(
    label="topics",
    kind="text",
    n_samples=N_DOCUMENTS,
    n_clusters=len(THEMES),
    shape=(2000,),
    loader="dekm.datasets.paper.topics:topics",
    licence="generated by this package",
)
