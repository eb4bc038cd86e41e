"""The line items of section 4: name, kind, us-gaap tags | ifrs-full tags.

A line that begins with two blanks continues a row; % at the end of a line joins a long tag.
"""
from __future__ import annotations

from typing import NamedTuple

TABLE = """
revenue F: Revenues, RevenueFromContractWithCustomerExcludingAssessedTax,
  RevenueFromContractWithCustomerIncludingAssessedTax, SalesRevenueNet, SalesRevenueGoodsNet
  | Revenue, RevenueFromContractsWithCustomers
cost_of_revenue F: CostOfRevenue, CostOfGoodsAndServicesSold, CostOfGoodsSold | CostOfSales
gross_profit F: GrossProfit | GrossProfit
research_and_development F: ResearchAndDevelopmentExpense | ResearchAndDevelopmentExpense
sga F: SellingGeneralAndAdministrativeExpense | SellingGeneralAndAdministrativeExpense
operating_income F: OperatingIncomeLoss | ProfitLossFromOperatingActivities
interest_expense F: InterestExpense, InterestExpenseNonoperating, InterestExpenseDebt
  | FinanceCosts, InterestExpense
pretax_income F:
  IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest,
  IncomeLossFromContinuingOperationsBeforeIncomeTaxesMinorityInterestAndIncomeLossFromEquity%
  MethodInvestments
  | ProfitLossBeforeTax
income_tax F: IncomeTaxExpenseBenefit | IncomeTaxExpenseContinuingOperations
net_income F: NetIncomeLoss, ProfitLoss | ProfitLossAttributableToOwnersOfParent, ProfitLoss
depreciation F: Depreciation | DepreciationExpense
amortization_intangibles F: AmortizationOfIntangibleAssets | AmortisationExpense
d_and_a F: - | -
share_based_compensation F: ShareBasedCompensation, AllocatedShareBasedCompensationExpense
  | AdjustmentsForSharebasedPayments
cfo F: NetCashProvidedByUsedInOperatingActivities | CashFlowsFromUsedInOperatingActivities
cfi F: NetCashProvidedByUsedInInvestingActivities | CashFlowsFromUsedInInvestingActivities
cff F: NetCashProvidedByUsedInFinancingActivities | CashFlowsFromUsedInFinancingActivities
capex F: PaymentsToAcquirePropertyPlantAndEquipment, PaymentsToAcquireProductiveAssets
  | PurchaseOfPropertyPlantAndEquipmentClassifiedAsInvestingActivities
dividends_paid F: PaymentsOfDividends, PaymentsOfDividendsCommonStock
  | DividendsPaidClassifiedAsFinancingActivities
buybacks F: PaymentsForRepurchaseOfCommonStock | PaymentsToAcquireOrRedeemEntitysShares
acquisitions F: PaymentsToAcquireBusinessesNetOfCashAcquired
  | CashFlowsUsedInObtainingControlOfSubsidiariesOrOtherBusinessesClassifiedAsInvestingActivities
income_taxes_paid F: IncomeTaxesPaidNet, IncomeTaxesPaid
  | IncomeTaxesPaidRefundClassifiedAsOperatingActivities
net_interest_income F: InterestIncomeExpenseNet | -
noninterest_income F: NoninterestIncome | -
noninterest_expense F: NoninterestExpense | -
credit_loss_provision F: ProvisionForLoanLeaseAndOtherLosses, ProvisionForLoanAndLeaseLosses | -
assets I: Assets | Assets
current_assets I: AssetsCurrent | CurrentAssets
cash I: CashAndCashEquivalentsAtCarryingValue,
  CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents | CashAndCashEquivalents
short_term_investments I: MarketableSecuritiesCurrent, ShortTermInvestments,
  AvailableForSaleSecuritiesDebtSecuritiesCurrent | -
receivables I: AccountsReceivableNetCurrent, ReceivablesNetCurrent
  | CurrentTradeReceivables, TradeAndOtherCurrentReceivables
inventory I: InventoryNet | Inventories
ppe I: PropertyPlantAndEquipmentNet | PropertyPlantAndEquipment
goodwill I: Goodwill | Goodwill
intangibles I: IntangibleAssetsNetExcludingGoodwill, FiniteLivedIntangibleAssetsNet
  | IntangibleAssetsOtherThanGoodwill
liabilities I: Liabilities | Liabilities
current_liabilities I: LiabilitiesCurrent | CurrentLiabilities
payables I: AccountsPayableCurrent | TradeAndOtherCurrentPayables
deferred_revenue I: ContractWithCustomerLiabilityCurrent, DeferredRevenueCurrent
  | CurrentContractLiabilities
long_term_debt I: LongTermDebtNoncurrent, LongTermDebtAndCapitalLeaseObligations, LongTermDebt,
  ConvertibleDebtNoncurrent, ConvertibleNotesPayableNoncurrent | -
current_debt I: - | -
total_debt I: - | -
minority_interest I: MinorityInterest | NoncontrollingInterests
equity I: StockholdersEquity | EquityAttributableToOwnersOfParent
equity_total I: StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest | Equity
retained_earnings I: RetainedEarningsAccumulatedDeficit | RetainedEarnings
deposits I: Deposits | DepositsFromCustomers
public_float I: - | -
shares_basic SF: WeightedAverageNumberOfSharesOutstandingBasic | WeightedAverageShares
shares_diluted SF: WeightedAverageNumberOfDilutedSharesOutstanding | AdjustedWeightedAverageShares
shares_outstanding SI: CommonStockSharesOutstanding | NumberOfSharesOutstanding
eps_basic P: EarningsPerShareBasic, EarningsPerShareBasicAndDiluted | BasicEarningsLossPerShare
eps_diluted P: EarningsPerShareDiluted, EarningsPerShareBasicAndDiluted
  | DilutedEarningsLossPerShare
dividends_per_share P: CommonStockDividendsPerShareCashPaid, CommonStockDividendsPerShareDeclared
  | DividendsRecognisedAsDistributionsToOwnersPerShare
"""

US_GAAP = "us-gaap"
IFRS = "ifrs-full"


class Item(NamedTuple):
    """A line item; `kind` is F, I, SF, SI or P."""

    name: str
    kind: str
    tags: dict[str, tuple[str, ...]]


def split_tags(text: str) -> tuple[str, ...]:
    """Returns the tags of one side of a row; `-` has none."""
    names = tuple(name.strip() for name in text.split(","))
    return () if names == ("-",) else names


def parse_table(table: str) -> dict[str, Item]:
    """Returns the items by name, in the order of section 4."""
    items: dict[str, Item] = {}
    joined = table.strip().replace("%\n  ", "").replace("\n  ", " ")
    for row in joined.splitlines():
        head, tags = row.split(": ", 1)
        name, kind = head.split(" ")
        gaap, ifrs = tags.split("|")
        items[name] = Item(name, kind, {US_GAAP: split_tags(gaap), IFRS: split_tags(ifrs)})
    return items


ITEMS = parse_table(TABLE)

SPLIT_TAGS = {
    US_GAAP: ("WeightedAverageNumberOfDilutedSharesOutstanding",
              "WeightedAverageNumberOfSharesOutstandingBasic", "CommonStockSharesOutstanding",
              "CommonStockSharesIssued"),
    IFRS: ("AdjustedWeightedAverageShares", "WeightedAverageShares", "NumberOfSharesOutstanding",
           "NumberOfSharesIssued"),
}
