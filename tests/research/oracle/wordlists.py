"""Word lists and risk categories of section 8."""
from __future__ import annotations


TONES: dict[str, frozenset[str]] = {
    "negative": frozenset("""
        adverse adversely against bankruptcy breach breaches challenge challenges claims
        closed closure complaint complaints concern concerns crisis critical damage damaged
        damages decline declined declines declining decrease decreased default defaults
        defect defects deficiencies deficiency delay delayed delays deteriorate
        deterioration difficult difficulties difficulty dispute disputes disruption
        disruptions downturn fail failed fails failure failures fraud harm harmed harmful
        impair impaired impairment impairments inability inadequate injury interruption
        interruptions investigation investigations lack late lawsuit lawsuits lose losing
        loss losses lost negative negatively penalties penalty problem problems recall
        recalls restated restructuring severe shortage shortages slow slower stolen suffer
        suffered terminate terminated termination threat threats unable unauthorized
        unfavorable unsuccessful violation violations volatile volatility vulnerabilities
        vulnerability weak weakness weaknesses worse
    """.split()),
    "positive": frozenset("""
        able achieve achieved achievement achievements achieving advance advanced advances
        advantage advantages attractive beneficial benefit benefited benefits best better
        creative delight efficiencies efficiency efficient empower enable enabled enables
        enabling enhance enhanced enhancement enhancements enhances enjoy excellence
        excellent exceptional exciting favorable gain gained gains good great greater
        greatest improve improved improvement improvements improves improving innovate
        innovation innovations innovative leader leadership leading opportunities
        opportunity outstanding pleased popular positive profitability profitable progress
        rebound reward rewards satisfaction stable strength strengthen strengthened
        strengths strong stronger strongest succeed success successes successful
        successfully superior top transform win winning
    """.split()),
    "uncertainty": frozenset("""
        almost ambiguity anticipate anticipated anticipates appear appears approximate
        approximately assume assumed assumes assumption assumptions believe believed
        believes contingencies contingency contingent could depend depended depending
        depends doubt doubtful estimate estimated estimates estimating expose exposed
        exposure exposures fluctuate fluctuated fluctuates fluctuating fluctuation
        fluctuations indefinite indefinitely intangible likelihood may maybe might pending
        perhaps possibility possible possibly predict predictability predicted prediction
        preliminary probability probable probably random risk risks risky roughly seems
        sometimes speculative sudden suggest suggests uncertain uncertainties uncertainty
        unclear unexpected unexpectedly unforeseen unknown unpredictable unproven unusual
        varied varies vary varying
    """.split()),
    "litigious": frozenset("""
        allege alleged alleges alleging antitrust appeal appealed appeals arbitration
        attorney attorneys claim claimant claimants class contract contracts contractual
        counsel court courts defendant defendants deposition enforce enforceable enforcement
        indemnification indemnify indemnity infringe infringed infringement injunction
        injunctions judge judgment judgments judicial jurisdiction jurisdictions jury law
        laws lawsuit lawsuits legal legally legislation legislative liabilities liability
        litigate litigation patent patents plaintiff plaintiffs prosecute regulation
        regulations regulator regulators regulatory settle settled settlement settlements
        statute statutes statutory subpoena subpoenas sue sued tort trial unlawful verdict
    """.split()),
    "constraining": frozenset("""
        bound commit commitment commitments commits committed compel compelled compliance
        comply condition conditions constrain constrained constraint constraints covenant
        covenants dependence dependent forbid forbidden impose imposed imposes imposing
        limit limitation limitations limited limiting limits mandate mandated mandates
        mandatory must obligate obligated obligation obligations obliged permit permitted
        prevent prevented prevents prohibit prohibited prohibition prohibitions prohibits
        require required requirement requirements requires requiring restrict restricted
        restricting restriction restrictions restrictive restricts
    """.split()),
    "modal_weak": frozenset("""
        appears could depending depends likelihood may maybe might nearly occasionally
        perhaps possible possibly seldom sometimes somewhat suggests uncertain
    """.split()),
    "modal_strong": frozenset("""
        always best clearly definitely highest lowest must never shall strongly
        unambiguously uncompromising undisputed unequivocally unsurpassed will
    """.split()),
}

RISKS: dict[str, frozenset[str]] = {
    "competition": frozenset("""
        compete competes competing competition competitive competitor competitors pricing
        rival rivals
    """.split()),
    "supply_chain": frozenset("""
        component components foundry inventory logistics manufacturer manufacturers
        manufacturing outsourcing shortage shortages sourcing supplier suppliers supply
    """.split()),
    "demand": frozenset("""
        consumer consumers customer customers demand preferences purchasing seasonality
        trends
    """.split()),
    "technology": frozenset("""
        ai architecture artificial cloud digital innovation intelligence obsolete software
        technologies technology
    """.split()),
    "cyber_privacy": frozenset("""
        breach breaches confidentiality cyber cyberattack cyberattacks cybersecurity hackers
        malware phishing privacy ransomware unauthorized
    """.split()),
    "regulation": frozenset("""
        antitrust compliance governmental legislation license licenses licensing policy
        regulation regulations regulator regulators regulatory rules
    """.split()),
    "litigation": frozenset("""
        claims court infringement injunction lawsuit lawsuits legal litigation patent
        patents proceedings settlement
    """.split()),
    "geopolitics_trade": frozenset("""
        china chinese conflict conflicts export exports geopolitical import imports russia
        sanctions taiwan tariff tariffs trade ukraine war
    """.split()),
    "macro_financial": frozenset("""
        credit currencies currency economic exchange inflation interest liquidity
        macroeconomic rates recession unemployment
    """.split()),
    "people": frozenset("""
        compensation employee employees hire hiring labor personnel retain retention talent
        unions wages workforce
    """.split()),
    "climate_disaster": frozenset("""
        climate disasters earthquake earthquakes emissions energy environmental floods
        hurricanes pandemic pandemics weather wildfires
    """.split()),
    "tax_accounting": frozenset("""
        accounting audit controls deferred goodwill impairment irs restatement tax taxation
        taxes
    """.split()),
}
