"""The formulas of sections 6 and 9, as written there.

A row is `name[°][ B][ [unit]][ L] = expression` under a line `specialist.subtask`; ° and B are
the marks of R11, L is a latest metric. Rows named flag_... are figures of the last three years.
A line that begins with two blanks continues a row.
"""
from __future__ import annotations

import ast
import re
from typing import NamedTuple

TABLE = """
financial.ratio_calculation
gross_margin = gross_profit / pos(revenue)
operating_margin = operating_income / pos(revenue)
net_margin° = net_income / pos(revenue)
ebitda [cur] = operating_income + d_and_a
ebitda_margin = ebitda / pos(revenue)
fcf [cur] = cfo - capex
fcf_margin = fcf / pos(revenue)
effective_tax_rate° = income_tax / pos(pretax_income)
return_on_assets° = net_income / pos(avg(assets))
return_on_equity° = net_income / pos(avg(equity))
nopat [cur] = operating_income * (1 - tax_rate_model)
invested_capital [cur] = equity_total + total_debt - cash
roic = nopat / pos(avg(invested_capital))
asset_turnover° = revenue / pos(avg(assets))
equity_multiplier° = avg(assets) / pos(avg(equity))
dupont_return_on_equity° = net_margin * asset_turnover * equity_multiplier
current_ratio = current_assets / pos(current_liabilities)
quick_ratio = (current_assets - opt(inventory)) / pos(current_liabilities)
cash_ratio = (cash + opt(short_term_investments)) / pos(current_liabilities)
receivables_turnover = revenue / pos(avg(receivables))
inventory_turnover = cost_of_revenue / pos(avg(inventory))
payables_turnover = cost_of_revenue / pos(avg(payables))
debt_to_equity = total_debt / pos(equity_total)
liabilities_to_assets° = liabilities / pos(assets)
book_value_per_share° [cur/shares] = equity / pos(shares_outstanding)
bank_efficiency_ratio B = noninterest_expense / pos(net_interest_income + noninterest_income)
bank_net_interest_share B = net_interest_income / pos(net_interest_income + noninterest_income)
bank_provision_to_revenue B = credit_loss_provision / pos(revenue)
bank_equity_to_assets B = equity / pos(assets)
bank_deposits_to_assets B = deposits / pos(assets)
financial.red_flag_detection
flag_receivables_outpace_sales [count] = receivables / pos(receivables[-1]) - revenue /
  pos(revenue[-1]) > 0.10
flag_inventory_outpace_sales [count] = inventory / pos(inventory[-1]) - revenue / pos(revenue[-1])
  > 0.10
flag_net_loss° [count] = net_income < 0
flag_negative_operating_cash_flow [count] = cfo < 0
flag_weak_cash_backing [count] = cfo / pos(net_income) < 0.8
flag_high_accruals [count] = accruals_cash_flow > 0.10
flag_gross_margin_drop [count] = gross_margin - gross_margin[-1] < -0.03
flag_operating_margin_drop [count] = operating_margin - operating_margin[-1] < -0.05
flag_revenue_decline° [count] = revenue / pos(revenue[-1]) - 1 < -0.05
flag_negative_equity° [count] = equity < 0
flag_low_current_ratio [count] = current_ratio < 1
flag_high_leverage [count] = net_debt_to_ebitda > 4
flag_low_interest_coverage [count] = operating_income / pos(interest_expense) < 2
flag_goodwill_heavy° [count] = (goodwill + opt(intangibles)) / pos(assets) > 0.40
flag_sbc_heavy° [count] = sbc_to_revenue > 0.15
flag_dilution° [count] = shares_diluted / pos(shares_diluted[-1]) - 1 > 0.05
flag_unusual_tax_rate° [count] = effective_tax_rate < 0.05 or effective_tax_rate > 0.40
flag_payout_exceeds_fcf [count] = total_payout_to_fcf > 1
strategy.historical_roi
roi_roic = roic
roi_cash = fcf / pos(avg(invested_capital))
roi_equity° = return_on_equity
roi_roic_mean_10y L = meanav(roic, 10, 3)
roi_incremental_5y L = (nopat - nopat[-5]) / pos(invested_capital - invested_capital[-5])
strategy.ma_review
acquisitions_to_revenue° = acquisitions / pos(revenue)
acquisitions_to_opening_assets° = acquisitions / pos(assets[-1])
goodwill_to_assets° = goodwill / pos(assets)
goodwill_growth° = goodwill / pos(goodwill[-1]) - 1
acquisitions_sum_10y° [cur] L = sumav(acquisitions, 10, 3)
strategy.mgmt_compensation
sbc_to_revenue° = share_based_compensation / pos(revenue)
sbc_to_operating_income = share_based_compensation / pos(operating_income)
sbc_to_cfo = share_based_compensation / pos(cfo)
sbc_per_diluted_share° [cur/shares] = share_based_compensation / pos(shares_diluted)
buybacks_to_sbc° = buybacks / pos(share_based_compensation)
business_model.cost_structure
cost_of_revenue_share = cost_of_revenue / pos(revenue)
research_share = research_and_development / pos(revenue)
sga_share = sga / pos(revenue)
d_and_a_share = d_and_a / pos(revenue)
business_model.cash_cycle
days_sales_outstanding [days] = 365 * avg(receivables) / pos(revenue)
days_inventory [days] = 365 * avg(inventory) / pos(cost_of_revenue)
days_payables [days] = 365 * avg(payables) / pos(cost_of_revenue)
cash_conversion_cycle [days] = days_sales_outstanding + days_inventory - days_payables
deferred_revenue_share = deferred_revenue / pos(revenue)
business_model.operating_leverage
degree_of_operating_leverage = (operating_income / pos(operating_income[-1]) - 1) / (revenue /
  pos(revenue[-1]) - 1)
incremental_operating_margin = (operating_income - operating_income[-1]) / (revenue - revenue[-1])
ppe_to_revenue = ppe / pos(revenue)
competitive_position.margin_durability
gross_margin_mean_5y L = mean(gross_margin, 5)
gross_margin_sd_5y L = sd(gross_margin, 5)
operating_margin_mean_5y L = mean(operating_margin, 5)
operating_margin_sd_5y L = sd(operating_margin, 5)
competitive_position.reinvestment_intensity
capex_to_revenue = capex / pos(revenue)
capex_to_d_and_a = capex / pos(d_and_a)
research_and_capex_to_revenue = (research_and_development + capex) / pos(revenue)
management_quality.capital_stewardship
asset_growth° = assets / pos(assets[-1]) - 1
asset_turnover_change° = asset_turnover - asset_turnover[-1]
roic_change = roic - roic[-1]
management_quality.dilution
net_share_issuance° = ln(pos(shares_outstanding) / pos(shares_outstanding[-1]))
diluted_share_growth° = shares_diluted / pos(shares_diluted[-1]) - 1
diluted_share_cagr_3y° L = cagr(shares_diluted, 3)
diluted_share_cagr_5y° L = cagr(shares_diluted, 5)
management_quality.payout_policy
payout_ratio° = dividends_paid / pos(net_income)
total_payout_ratio° = (dividends_paid + buybacks) / pos(net_income)
total_payout_to_fcf = (dividends_paid + buybacks) / pos(fcf)
risk_factors.quantified_risk
revenue_growth_sd_5y° L = sd(revenue_growth, 5)
return_on_assets_sd_5y° L = sd(return_on_assets, 5)
cfo_to_revenue_sd_5y L = sd(cfo_to_revenue, 5)
cfo_to_revenue = cfo / pos(revenue)
earnings_quality.accruals
accruals_cash_flow = (net_income - cfo) / pos(avg(assets))
net_operating_assets [cur] = (assets - cash - opt(short_term_investments)) - (liabilities -
  total_debt)
accruals_balance_sheet = (net_operating_assets - net_operating_assets[-1]) /
  pos(avg(net_operating_assets))
earnings_quality.beneish_m_score
beneish_dsri = (receivables / pos(revenue)) / (receivables[-1] / pos(revenue[-1]))
beneish_gmi = gross_margin[-1] / pos(gross_margin)
beneish_aqi = (1 - (current_assets + ppe) / pos(assets)) / (1 - (current_assets[-1] + ppe[-1]) /
  pos(assets[-1]))
beneish_sgi = revenue / pos(revenue[-1])
beneish_depi = depreciation_rate_index()
beneish_sgai = (sga / pos(revenue)) / (sga[-1] / pos(revenue[-1]))
beneish_lvgi = ((long_term_debt + current_liabilities) / pos(assets)) / ((long_term_debt[-1] +
  current_liabilities[-1]) / pos(assets[-1]))
beneish_tata = (net_income - cfo) / pos(assets)
beneish_m_score [score] = -4.84 + 0.920 * beneish_dsri + 0.528 * beneish_gmi + 0.404 * beneish_aqi
  + 0.892 * beneish_sgi + 0.115 * beneish_depi - 0.172 * beneish_sgai + 4.679 * beneish_tata -
  0.327 * beneish_lvgi
earnings_quality.piotroski_f_score
piotroski_roa [count] = net_income / pos(assets[-1]) > 0
piotroski_cfo [count] = cfo / pos(assets[-1]) > 0
piotroski_delta_roa [count] = net_income / pos(assets[-1]) > net_income[-1] / pos(assets[-2])
piotroski_accrual [count] = cfo / pos(assets[-1]) > net_income / pos(assets[-1])
piotroski_delta_leverage [count] = long_term_debt / pos(avg(assets)) < long_term_debt[-1] /
  pos(avg(assets)[-1])
piotroski_delta_liquidity [count] = current_ratio > current_ratio[-1]
piotroski_no_issuance [count] = shares_outstanding <= shares_outstanding[-1]
piotroski_delta_margin [count] = gross_margin > gross_margin[-1]
piotroski_delta_turnover [count] = revenue / pos(assets[-1]) > revenue[-1] / pos(assets[-2])
piotroski_f_score [score] = piotroski_roa + piotroski_cfo + piotroski_delta_roa +
  piotroski_accrual + piotroski_delta_leverage + piotroski_delta_liquidity + piotroski_no_issuance
  + piotroski_delta_margin + piotroski_delta_turnover
earnings_quality.cash_conversion
cfo_to_net_income = cfo / pos(net_income)
fcf_to_net_income = fcf / pos(net_income)
cash_tax_to_book_tax° = income_taxes_paid / pos(income_tax)
growth.historical_growth
revenue_growth° = revenue / pos(revenue[-1]) - 1
operating_income_growth = operating_income / pos(operating_income[-1]) - 1
net_income_growth° = net_income / pos(net_income[-1]) - 1
eps_diluted_growth° = eps_diluted / pos(eps_diluted[-1]) - 1
fcf_growth = fcf / pos(fcf[-1]) - 1
growth.compound_growth
revenue_cagr_3y° L = cagr(revenue, 3)
revenue_cagr_5y° L = cagr(revenue, 5)
revenue_cagr_10y° L = cagr(revenue, 10)
net_income_cagr_5y° L = cagr(net_income, 5)
eps_diluted_cagr_5y° L = cagr(eps_diluted, 5)
eps_diluted_cagr_10y° L = cagr(eps_diluted, 10)
fcf_cagr_5y L = cagr(fcf, 5)
growth.sustainable_growth
retention_ratio° = 1 - payout_ratio
sustainable_growth_rate° = return_on_equity * retention_ratio
credit.leverage
net_debt [cur] = total_debt - cash - opt(short_term_investments)
net_debt_to_ebitda = net_debt / pos(ebitda)
debt_to_capital = total_debt / pos(total_debt + equity_total)
debt_to_assets = total_debt / pos(assets)
credit.coverage
interest_coverage = pos(operating_income) / pos(interest_expense)
ebitda_coverage = pos(ebitda) / pos(interest_expense)
cfo_to_debt = cfo / pos(total_debt)
fcf_to_debt = fcf / pos(total_debt)
credit.altman_z_score
altman_x1 = (current_assets - current_liabilities) / pos(assets)
altman_x2 = retained_earnings / pos(assets)
altman_x3 = operating_income / pos(assets)
altman_x4_market = public_float / pos(liabilities)
altman_x4_book = equity / pos(liabilities)
altman_x5 = revenue / pos(assets)
altman_z_1968 [score] = 1.2 * altman_x1 + 1.4 * altman_x2 + 3.3 * altman_x3 + 0.6 *
  altman_x4_market + 1.0 * altman_x5
altman_z2_1995 [score] = 6.56 * altman_x1 + 3.26 * altman_x2 + 6.72 * altman_x3 + 1.05 *
  altman_x4_book
credit.liquidity_runway
liquid_funds [cur] = cash + opt(short_term_investments)
liquid_funds_to_current_debt = liquid_funds / pos(current_debt)
runway_months [months] = 12 * liquid_funds / pos(0 - fcf)
governance.share_structure
float_to_book° = public_float / pos(equity)
basic_to_diluted° = shares_basic / pos(shares_diluted)
"""

ROW = re.compile(r"(\w+?)(°)?( B)?(?: \[([^\]]+)\])?( L)? = (.*)")


class Metric(NamedTuple):
    """A metric with an expression; `mark` is "", "°" or "B"."""

    specialist: str
    subtask: str
    name: str
    mark: str
    unit: str
    latest: bool
    expression: ast.expr


def parse_row(owner: str, row: str) -> Metric:
    """Returns the metric of one row."""
    match = ROW.fullmatch(row)
    if match is None:
        raise ValueError(f"no formula: {row}")
    name, degree, bank, unit, latest, text = match.groups()
    specialist, subtask = owner.split(".")
    mark = "°" if degree else "B" if bank else ""
    return Metric(specialist, subtask, name, mark, unit or "ratio", latest is not None,
                  ast.parse(text, mode="eval").body)


def parse_table(table: str) -> dict[str, Metric]:
    """Returns all metrics by name, in the order of the table."""
    metrics: dict[str, Metric] = {}
    owner = ""
    for row in table.strip().replace("\n  ", " ").splitlines():
        if " = " not in row:
            owner = row
            continue
        metric = parse_row(owner, row)
        if metric.name in metrics:
            raise ValueError(f"two metrics of one name: {metric.name}")
        metrics[metric.name] = metric
    return metrics


METRICS = parse_table(TABLE)
