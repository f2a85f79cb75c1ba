package offline

import (
	"strings"
	"unicode/utf8"

	"github.com/lightctl/lightrag/llm/offline/internal/poslex"
)

// class is what is known of a word: a bit set, since one word may be several
// things ("may", "found").
type class uint32

const (
	stop       class = 1 << iota // carries no meaning of its own
	copula                       // links a subject with its definition
	verb                         // a verb form often met
	title                        // precedes the name of a person, not part of it
	role                         // what a person is: physicist, founder
	orgHead                      // part of the name of an organization
	orgNoun                      // what an organization is
	placeHead                    // part of the name of a place
	placeNoun                    // what a place is
	eventHead                    // part of the name of an event
	calendar                     // month or day: capitalised, but no name
	common                       // begins sentences without being a name
	given                        // a common first name
	connector                    // may stand inside a name
	personPron                   // he, she
	determiner                   // a noun follows
	theme                        // an abstract noun that asks for an overview
	placePrep                    // a place may follow
)

var (
	lexEnglish = lexicon(
		entry{stop, `a an the this that these those each every some any no another both either neither of to in on at for from by with into onto upon about over under after before between among during through up down out off against without within toward towards via per than as like unlike since until despite except across along around behind beyond and or but nor yet so if then else because although though while whereas when where why how what which who whom whose whether i you he she it we they me him her us them my your his its our their mine yours ours theirs myself yourself himself herself itself ourselves themselves someone anyone everyone something anything everything nothing none ones other others am be been being do does did done doing has have had having can could may might must shall should will would not n't also only just very too even still already again always never often sometimes usually however therefore thus hence moreover furthermore indeed otherwise instead rather quite almost perhaps maybe here there now later ever more most less least much many few several all such same own once soon then etc please let yes there's it's don't doesn't didn't isn't aren't wasn't weren't can't won't that's today ago near together first second third last next new one two three four five six seven eight nine ten tell me explain describe say list give cannot anybody nobody everybody oh ah hey hi hello wow ha hush hurrah alas ok okay ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety sie und der das ein eine hundred thousand million billion`},
		entry{copula, `is are was were became becomes become remains remained`},
		entry{verb, `founded found find finds discovered discovers discover invented invent invents wrote write writes written created create creates developed develop develops built build builds led lead leads made make makes won win wins received receive receives awarded joined join joins married marry studied study studies taught teach teaches worked work works works moved move moves lived live lives died die dies born established establish establishes designed design designs used use uses using began begin begins started start starts published publish publishes produced produce produces introduced introduce introduces proposed propose proposes operates operate operated owns own owned acquired acquire acquires merged bought sold sells sell runs run ran flows flow flowed crosses cross crossed connects connect connected links link linked contains contain contained includes include included holds hold held stores store stored supports support supported provides provide provided helps help helped causes cause caused leads affects affect affected changes changed reduces reduce reduced increases increase increased improves improve improved protects protect protected requires require required depends depend depended means mean meant shows show showed shown said says say called named known came come comes went go goes took take takes gave gives give kept keep keeps grew grow grows became served serve serves appointed elected directed direct directs managed manage manages funded fund funds opened open opens closed close closes launched launch launches signed sign signs defeated defeat fought fight visited visit visits travelled traveled returned return returns trained train trains measures measure measured converts convert converted carries carry carried feeds feed fed turned turns turn allows allow allowed enables enable enabled shares share shared explains explained describes described wants want wanted needs need needed believes believed argued argues argue located based situated collaborated collaborate replaced replace replaces combines combined combine relate relates related compare compared matter matters happen happens happened spielt restored restore restores threatens threatened threaten`},
		entry{title, `mr mrs ms dr prof professor doctor president minister senator governor mayor captain general colonel lieutenant sergeant admiral sir lady lord dame judge justice chancellor ambassador secretary director chairman ceo engineer physicist chemist biologist author architect`},
		entry{role, `physicist chemist biologist scientist researcher engineer mathematician astronomer philosopher writer author poet novelist journalist painter artist composer musician singer actor actress director politician president minister king queen emperor leader founder co-founder inventor architect doctor physician nurse lawyer judge teacher professor historian economist programmer entrepreneur businessman businesswoman explorer soldier officer general admiral pilot astronaut botanist geologist ecologist hydrologist archaeologist linguist monk priest saint bishop pope merchant farmer fisherman student daughter son wife husband brother sister mother father woman man keeper captain curator librarian cartographer activist athlete player chef person pioneer`},
		entry{orgHead, `university institute institution company corporation corp inc ltd llc gmbh ag foundation committee ministry agency bank association council society laboratory laboratories lab labs school college academy organization organisation union department commission federation party group trust fund authority bureau office center centre network alliance league club museum library hospital consortium cooperative guild press network airlines airways industries holdings partners ventures systems technologies service`},
		entry{orgNoun, `university institute company corporation foundation committee ministry agency bank association council society laboratory school college academy organization organisation union department commission federation party firm startup group trust fund authority museum library hospital consortium cooperative team band charity nonprofit manufacturer publisher newspaper retailer supplier airline utility`},
		entry{placeHead, `river lake mount mountain mountains island islands bay sea ocean valley city county province republic kingdom state states street avenue road square park desert peninsula gulf strait cape falls glacier canyon forest hills coast beach harbor harbour port bridge castle village town district region republic territory north south east west reef delta basin canal dam`},
		entry{placeNoun, `river lake mountain island bay sea ocean valley city county province country nation state street town village district region territory capital continent peninsula desert port harbor harbour forest park reef delta basin canal dam place municipality suburb settlement glacier volcano`},
		entry{eventHead, `war battle revolution olympics festival conference summit expedition crisis earthquake flood fire massacre uprising championship cup congress exhibition fair treaty`},
		entry{calendar, `january february march april may june july august september october november december monday tuesday wednesday thursday friday saturday sunday spring summer autumn winter`},
		entry{common, `researchers scientists people members engineers students workers water energy data results studies research work recent early late modern many most several early later today history music science nature life time years year day days world war work because during today traditional local national international public private young old large small high low good great important different common main chapter section part figure table page note example examples introduction summary overview conclusion background contents references appendix question answer critics experts farmers fishermen residents visitors children women men every unlike since according following based despite given using while whereas although though besides finally eventually initially originally recently currently previously meanwhile nevertheless nonetheless additionally similarly consequently together instead whenever wherever perhaps half dozens hundreds thousands millions nobody everybody everyone someone`},
		entry{given, `john james robert michael william david richard joseph thomas charles mary patricia jennifer linda elizabeth barbara susan jessica sarah karen maria marie anna anne emma sophie sofia olivia laura julia lucy alice clara rosa elena irina olga ada grace rosalind jane emily charlotte george henry edward peter paul mark luke simon andrew alexander albert isaac nikola pierre jean jacques louis antoine francois hans karl heinrich friedrich johann wolfgang otto max werner erwin ludwig angela carlos juan jose pablo luis miguel diego ana carmen ivan dmitri sergei vladimir mohammed ahmed ali omar fatima hassan ravi priya raj anil amit mei wei li ming yuki hiro kenji akira min-jun ji-woo seo-yeon kim park lee walter arthur frank harry jack samuel daniel benjamin martin stephen steven kevin brian edgar ernest marco luca giovanni leonardo ingrid lars erik nils tim bill steve linus alan ken dennis niels galileo tom ben sam kate helen nora ruth eva lena nina marta katharina sabine ursula greta lise emmy hannah`},
		entry{connector, `of de van von der den del della di da du la le al bin ibn el dos`},
		entry{personPron, `he she his her him himself herself`},
		entry{determiner, `a an the this that its their his her our your each every`},
		entry{theme, `theme themes topic topics summary overview impact impacts role roles effect effects relationship relationships relation connection connections history cause causes reason reasons difference differences challenge challenges benefit benefits influence importance trend trends lesson lessons idea ideas principle principles strategy strategies risk risks consequence consequences purpose goal goals approach approaches issue issues aspect aspects significance main overall general common big picture document documents text texts article articles passage passages corpus collection`},
		entry{placePrep, `in near at from around to into`},
		entry{stop, `el los las und que una les des est dans pour sur avec par aux cette ces sont ont con por para como más entre sobre`},
	)
	lexGerman = lexicon(
		entry{stop, `der die das den dem des ein eine einen einem einer eines kein keine keinen dieser diese dieses diesen diesem jener jede jeder jedes alle allen aller und oder aber denn sondern doch wenn weil dass ob als wie wo wer wann was warum wieso welche welcher welches welchen welchem wohin woher womit wodurch wofür wessen wem wen ich du er sie es wir ihr mich dich sich uns euch ihm ihn ihnen mein dein sein seine seiner seinem seinen seines ihre ihrer ihrem ihren unser unsere in im an am auf aus bei beim mit nach seit von vom zu zum zur durch für gegen ohne um über unter vor zwischen hinter neben während wegen trotz bis ab nicht nur auch noch schon sehr mehr viel viele vielen wenig wenige etwa fast immer nie oft heute damals später dann dort hier da so zwar sowie sowohl haben hat hatte hatten habe wurden werden wird worden würde kann können konnte konnten muss müssen soll sollte darf dürfen mag will wollen man jedoch daher deshalb außerdem zudem dabei damit davon dazu darin daran darauf insgesamt rund abschnitt abschnitte beispiel beispiele beispielsweise fall fälle fällen verfügung schritt schritte laufe hilfe art teil zwei drei vier fünf sechs sieben acht neun zehn erste ersten zweite neue neuen neuer gibt gab bitte erkläre beschreibe nenne`},
		entry{copula, `ist sind war waren wurde wird bleibt blieb gilt galt`},
		entry{verb, `gründete gegründet gründeten entdeckte entdeckt erfand erfunden schrieb geschrieben schreibt baute gebaut erbaut leitet leitete geleitet führt führte gewann gewonnen erhielt erhalten studierte studiert lehrte arbeitet arbeitete lebt lebte starb gestorben geboren heiratete entwickelte entwickelt nutzt nutzte verwendet verwendete liegt lag fließt floss verbindet verband beginnt begann eröffnet eröffnete betreibt betrieb enthält umfasst gehört gehörte produziert produzierte herstellt hergestellt liefert lieferte versorgt versorgte schützt schützte erforscht erforschte untersucht untersuchte veröffentlichte veröffentlicht kommt kam geht ging macht machte steht stand bietet bot zeigt zeigte misst speichert beeinflusst verändert unterstützt finanziert kooperiert`},
		entry{title, `herr frau dr prof professor professorin doktor präsident präsidentin minister ministerin kanzler kanzlerin bundeskanzler bundeskanzlerin general könig physiker physikerin ingenieur ingenieurin chemiker chemikerin direktor direktorin leiter leiterin gründer gründerin autor autorin architekt architektin bürgermeister bürgermeisterin`},
		entry{role, `physiker physikerin chemiker chemikerin biologe biologin wissenschaftler wissenschaftlerin forscher forscherin ingenieur ingenieurin mathematiker mathematikerin astronom astronomin philosoph philosophin schriftsteller schriftstellerin autor autorin dichter dichterin maler malerin künstler künstlerin komponist komponistin musiker musikerin politiker politikerin präsident präsidentin könig königin kaiser gründer gründerin erfinder erfinderin architekt architektin arzt ärztin lehrer lehrerin professor professorin historiker historikerin unternehmer unternehmerin kaufmann leiter leiterin direktor direktorin sohn tochter frau mann geologe geologin hydrologin hydrologe`},
		entry{orgHead, `universität hochschule institut gesellschaft gmbh ag stiftung ministerium bank verband verein rat akademie schule kommission partei gruppe behörde amt bundesamt zentrum museum bibliothek krankenhaus werke werk union genossenschaft`},
		entry{orgNoun, `universität hochschule institut unternehmen firma gesellschaft stiftung ministerium bank verband verein akademie schule organisation partei behörde museum bibliothek forschungsinstitut konzern hersteller genossenschaft forschungszentrum`},
		entry{placeNoun, `stadt fluss see berg insel land staat hauptstadt dorf region provinz bundesland gemeinde meer tal hafenstadt hafen gebirge nebenfluss kanal ort`},
		entry{placeHead, `fluss see insel tal gebirge`},
		entry{eventHead, `krieg weltkrieg schlacht revolution konferenz festspiele weltausstellung`},
		entry{calendar, `januar februar märz april mai juni juli august september oktober november dezember montag dienstag mittwoch donnerstag freitag samstag sonntag jahr jahre jahren jahrhundert uhr ende anfang mitte`},
		entry{given, `johann hans karl carl heinrich friedrich wilhelm otto max werner erwin ludwig angela anna maria marie emma sophie klara clara lise emmy albert robert rudolf gottfried georg paul peter martin michael thomas andreas stefan sabine ursula katharina greta hannah eva lena nina marta helga ingrid alexander walter konrad ernst fritz hermann jakob`},
		entry{connector, `von van der den de zu und für`},
		entry{personPron, `er sie seine ihre`},
		entry{determiner, `der die das den dem des ein eine einen einem einer eines kein keine dieser diese dieses diesen diesem jeder jede jedes zum zur im am vom beim alle viele seine seiner seinem seinen ihre ihrer ihrem ihren`},
		entry{theme, `thema themen überblick zusammenfassung auswirkung auswirkungen rolle wirkung einfluss beziehung beziehungen zusammenhang geschichte ursache ursachen grund gründe unterschied unterschiede herausforderung herausforderungen bedeutung ziel ziele folgen vorteil vorteile dokument dokumente dokumenten text texte texten`},
		entry{placePrep, `in aus nach bei nahe`},
	)

	// irregular maps verb forms, and a few nouns of them, to what stem makes of
	// the plain verb.
	irregular = pairs(`won win wins win wrote writ written writ writing writ built build led lead made make taught teach began begin begun begin grew grow grown grow held hold kept keep sold sell bought buy died die dies die death die ran run running run gave give given give took take taken take came come went go gone go knew know known know spoke speak found find fought fight used use uses use using use born birth uses use fed feed feeding feed founder found founders found founding found founded found founds found inventor invent inventors invent invention invent inventions invent discovery discover discoveries discover author writ authors writ writer writ writers writ`)

	nounSuffixes       = strings.Fields(`tion sion ment ness ity ism ship ance ence ology graphy ics ture age ure acy hood sis ung heit keit schaft tät ismus ion nis tum`)
	germanNounSuffixes = strings.Fields(`ung ungen heit heiten keit keiten schaft schaften tät täten ismus tion tionen nis nisse tum chen ment enz anz ik`)
)

type entry struct {
	class class
	words string
}

func lexicon(entries ...entry) map[string]class {
	m := make(map[string]class)
	for _, e := range entries {
		for _, w := range strings.Fields(e.words) {
			m[w] |= e.class
		}
	}
	return m
}

func pairs(words string) map[string]string {
	m := make(map[string]string)
	f := strings.Fields(words)
	for i := 0; i+1 < len(f); i += 2 {
		m[f[i]] = f[i+1]
	}
	return m
}

// classOf looks a lower-case word up. In German text heads of English names
// ("Deep Sea Institute") still count.
func classOf(low string, lang language) class {
	low = strings.TrimSuffix(low, ".")
	if lang == german {
		c := lexGerman[low] | lexEnglish[low]&(orgHead|orgNoun|placeHead|eventHead|given)
		for _, h := range [...]struct {
			suffix string
			class  class
		}{{"universität", orgHead | orgNoun}, {"institut", orgHead | orgNoun}, {"gesellschaft", orgHead}, {"ministerium", orgHead | orgNoun}, {"stiftung", orgHead}, {"verband", orgHead}, {"akademie", orgHead}, {"fluss", placeNoun}, {"stadt", placeNoun}, {"forscherin", role}, {"forscher", role}, {"ingenieurin", role}, {"ingenieur", role}} {
			if len(low) > len(h.suffix)+1 && strings.HasSuffix(low, h.suffix) {
				c |= h.class
			}
		}
		return c
	}
	return lexEnglish[low]
}

// abstract reports whether a word looks like an abstract noun.
func abstract(low string) bool {
	for _, s := range nounSuffixes {
		if len(low) >= len(s)+3 && strings.HasSuffix(low, s) {
			return true
		}
	}
	return false
}

// singular takes the plural of an English noun off. A word that the lexicon has
// whole, and without its s as no noun, is no plural: "series", "news".
func singular(w string) string {
	n := len(w)
	if n < 4 || w[n-1] != 's' {
		return w
	}
	base := w
	switch {
	case n > 5 && strings.HasSuffix(w, "ies"):
		base = w[:n-3] + "y"
	case n > 5 && (strings.HasSuffix(w, "sses") || strings.HasSuffix(w, "xes") || strings.HasSuffix(w, "ches") || strings.HasSuffix(w, "shes")):
		base = w[:n-2]
	case strings.IndexByte("suai", w[n-2]) < 0 && n > 3 && !strings.HasSuffix(w, "ics"):
		base = w[:n-1]
	}
	if known := poslex.Lookup(base).May(poslex.Noun); !known && (n == 4 || poslex.Lookup(w).May(poslex.Noun)) {
		return w
	}
	return base
}

// runes counts the code points of a string.
func runes(s string) int { return utf8.RuneCountInString(s) }
