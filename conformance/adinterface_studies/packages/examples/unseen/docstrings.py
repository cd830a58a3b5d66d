"""Engineering and geometry: calls from the docstrings of chemicals, fluids, ht and transforms3d, drawn by lot."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from ...example import Example

_CHEMICALS = """
air.lemmon2000_air_d2Ar_ddelta2(0.663156, 1.24429300)
air.lemmon2000_air_d4A0_dtau4(0.63096, 1.24429300)
air.lemmon2000_air_d4Ar_ddelta4(0.663156, 1.24429300)
air.lemmon2000_air_d4Ar_dtau4(0.663156, 1.24429300)
critical.Meissner(851.0, Vc=0.000308)
heat_capacity.Lastovka_Shaw_T_for_Hm(55000, 80.0, 0.23)
heat_capacity.Lastovka_Shaw_integral(300.0, 0.1333)
heat_capacity.PPDS15(400.0, 562.05, 0.198892, 24.1389, -20.2301, 5.72481, 4.43613e-07, -3.10751e-07)
heat_capacity.PPDS2(350.0, 462.493, 4.54115, 9.96847, -103.419, 695.484, -2006.1, 2476.84, -1186.47)
heat_capacity.Poling(300.0, 4.568, -0.008975, 3.631e-05, -3.407e-08, 1.091e-11)
heat_capacity.Poling_integral_over_T(300.0, 4.568, -0.008975, 3.631e-05, -3.407e-08, 1.091e-11)
heat_capacity.Rowlinson_Bondi(373.28, 535.55, 0.323, 119.342)
heat_capacity.Zabransky_cubic_integral(298.15, 20.9634, -10.1344, 2.8253, -0.256738)
iapws.iapws95_d2A0_dtau2(2.15698666, 3.10248447)
iapws.iapws97_Gr_region2(1.8, 0.101325)
iapws.iapws97_d2Gr_dpi2_region5(3.33333333, 0.101325)
interface.Pitzer_sigma(293.0, 633.0, 4530000.0, 0.249)
interface.Somayajulu(300, 647.126, 232.713514, -140.18645, -4.890098)
interface.sigma_Gharagheizi_1(95, 190.564, 16.04, 0.012)
lennard_jones.sigma_Bird_Stewart_Lightfoot_critical_1(0.000268)
lennard_jones.sigma_Bird_Stewart_Lightfoot_critical_2(560.1, 4550000)
phase_change.SMK(553.15, 751.35, 0.302)
reaction.Gibbs_formation(-285830, 69.91, [0, 0], [130.571, 205.147], [1, 0.5])
refractivity.molar_refractivity_from_RI(1.3611, 5.8676e-05)
temperature.ITS90_68_difference(1000.0)
utils.Baume_heavy_to_rho(23.75)
utils.dxs_to_dns([-0.0028, -0.00719, -0.00859], [0.7, 0.2, 0.1])
utils.dxs_to_dxsn1([-2651.31818211, -2085.57440359, -2295.08608302])
vapor_pressure.Arrhenius_extrapolation(300.0, 400.0, 100000.0, -1600)
vapor_pressure.Sanjari(347.2, 617.1, 3600000.0, 0.299)
vapor_pressure.Yaws_Psat(400.0, 30.71290302, -2469, -7.351, 2.8025e-10, 2.7361e-06)
vapor_pressure.d2TRC_Antoine_extended_dT2(180.0, 227.51, -120.0, 8.95894, 510.595, -15.95, 2.41377, -93.74, 7425.9)
virial.BVirial_Abbott_fast(510.0, 425.2, 3800000.0, 0.193)
virial.BVirial_Tsonopoulos_extended(430.0, 405.65, 11280000.0, 0.252608, 0, 0, 'ketone', 1.469)
virial.BVirial_Tsonopoulos_fast(510.0, 425.2, 3800000.0, 0.193)
viscosity.Lucas_gas(550.0, 512.6, 8090000.0, 0.224, 32.042, 1.7)
viscosity.PPDS5(350.0, 470.008, 1.08003e-05, 0.19583, 0.811897)
viscosity.Stiel_Thodos(300.0, 556.35, 4559600.0, 153.8)
viscosity.dmu_Yaws_dT(300.0, -9.4406, 1117.6, 0.0137, -1.5465e-05)
volume.TDE_VDNS_rho(400.0, 772.999, 320.037, 795.092, -169.132, 448.929, -102.931)
"""

_FLUIDS = """
compressible.isentropic_efficiency(100000.0, 1000000.0, 1.4, eta_p=0.78)
control_valve.Reynolds_valve(3.26e-07, 360, 150.0, 0.9, 0.46, 165)
control_valve.control_valve_choke_P_l(69682.89291024, 22048320.0, 0.6, 680000.0)
control_valve.control_valve_noise_l_2015(40, 1000000.0, 650000.0, 2320.0, 997, 1400, 77.848, 0.1, 0.1071, 0.92, 0.42, 0.0036, 7800.0, 5000.0, 1.293, 343.0, An=-4.6)
core.Froude_densimetric(1.83, 2.0, 800, 1.2, g=9.81)
core.Grashof(0.9144, 0.000933, 178.2, rho=1.1613, mu=1.9e-05)
core.K_from_f(0.018, 100.0, 0.3)
core.Weber(0.18, 0.001, 900.0, 0.01)
core.relative_roughness(0.5, 0.0001)
design_climate.heating_degree_days(303.8)
drag.Barati(200.0)
drag.Ceylan(200.0)
drag.Cheng(200.0)
drag.Morrison(200.0)
fittings.K_foot_valve_Crane(0.2, style=0)
flow_meter.C_Reader_Harris_Gallagher(0.07391, 0.0222, 1.165, 1.85e-05, 0.12, 'flange')
flow_meter.C_quarter_circle_orifice_ISO_15377_1998(0.2, 0.075)
friction.Eck_1973(100000.0, 0.0001)
friction.Jain_1976(100000.0, 0.0001)
friction.Serghides_2(100000.0, 0.0001)
friction.helical_transition_Re_Schmidt(1, 7.0)
friction.helical_turbulent_fd_Ju(10000.0, 0.01, 0.2)
geometry.SA_partial_sphere(1.0, 0.7)
geometry.SA_torispheroidal(2.54, 1.03937007, 0.06236220)
geometry.V_vertical_conical_concave(113.0, -33, 15)
geometry.plate_enlargement_factor(0.0005, 0.0037)
open_flow.Q_weir_rectangular_full_Ackers(0.9, 0.6, 5)
packed_bed.Erdim_Akgiray_Demir(0.0008, 0.4, 0.001, 1000.0, 0.001)
packed_bed.KTA(0.0008, 0.4, 0.001, 1000.0, 0.001)
piping.gauge_from_t(0.5, False, 'BWG')
pump.Corripio_motor_efficiency(102160.9)
safety_valve.API520_C(1.35)
safety_valve.API520_F2(1.8, 1000000.0, 700000.0)
safety_valve.API520_N(10500000.0)
safety_valve.VDI_3732_noise_elevated_flare(3.0)
safety_valve.VDI_3732_noise_ground_flare(3.0)
separator.K_separator_Watkins(0.88, 985.4, 1.3, True)
two_phase.two_phase_dP_dz_acceleration(1, 0.1, 0.372, 827.1, 3.919, -5e-12, -4e-07, -2e-07, 120.0, 0.0001)
two_phase_voidage.Beattie_Whalley(0.4, 0.001, 1e-05, 850, 1.2)
two_phase_voidage.Domanski_Didion(0.4, 800, 2.5, 0.001, 1e-05)
"""  # noqa: E501

_TRANSFORMS3D = """
_gohlketransforms.orthogonalization_matrix([9.8, 12.0, 15.5], [87.2, 80.7, 69.7])
_gohlketransforms.random_quaternion([0.57799942, 0.84989085, 0.55653990])
_gohlketransforms.reflection_matrix([-0.17097186, 0.05705645, -0.11741589, 1.0], [0.12244771, 0.47989810, -0.30943303])
_gohlketransforms.translation_from_matrix([[1.0, 0.0, 0.0, -0.35656654], [0.0, 1.0, 0.0, 0.10673703], [0.0, 0.0, 1.0, -0.35077819], [0.0, 0.0, 0.0, 1.0]])
_gohlketransforms.vector_norm([0.52276346, 0.48824261, 0.91626497])
affines.compose([20, 30, 40], [[0, -1, 0], [1, 0, 0], [0, 0, 1]], [2.0, 3.0, 4.0])
affines.decompose([[0.0, -3.0, -0.89999999, 20.0], [2.0, 0.4, 0.2, 30.0], [0.0, 0.0, 4.0, 40.0], [0.0, 0.0, 0.0, 1.0]])
affines.striu2mat([0.1, 0.2, 0.3])
euler.euler2axangle(0, 1.5, 0, 'szyx')
quaternions.axangle2quat([1, 0, 0], 3.14159265)
reflections.rfnorm2aff([-0.44365681, 0.05011969, -0.32376426], [0.27414388, 0.42453114, -0.23343328])
shears.aff2sadn([[1.0, 0.54630248, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
shears.mat2sadn([[1.0, 0.54630248, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
taitbryan.euler2mat(1.3, -0.1, 0.2)
zooms.zfdir2aff(-1.234)
zooms.zfdir2mat(-1.234)
"""  # noqa: E501

_HT = """
boiling_flow.Lazarek_Black(10, 0.3, 0.001, 0.6, 2000000.0, Te=100)
boiling_flow.Liu_Winterton(1, 0.4, 0.3, 567.0, 18.09, 0.000156, 0.086, 2300, 44.02, 1000000.0, 22000000.0, 7)
boiling_flow.Thome(1, 0.4, 0.3, 567.0, 18.09, 0.000156, 1e-05, 0.086, 0.2, 2300, 1400, 900000.0, 0.02, 100000.0, 22000000.0, 100000.0)
boiling_nucleic.Serth_HEDH(0.0127, 0.0082, 272000.0, 567, 18.09)
boiling_nucleic.h_nucleic(q=20000.0, P=300000.0, Pc=22048320.0, Ra=1e-06, CAS='7732-18-5')
conduction.R_cylinder(0.9, 1.0, 20, 10)
conv_external.Nu_cylinder_Whitaker(6071, 0.7)
conv_free_immersed.Nu_horizontal_cylinder(0.72, 10000000.0)
conv_free_immersed.Nu_vertical_cylinder(0.72, 10000000.0)
conv_internal.helical_turbulent_Nu_Xin_Ebadian(200000.0, 0.7, 0.01, 0.2)
conv_plate.Nu_plate_Kumar(2000, 0.7, 30)
conv_plate.Nu_plate_Muley_Manglik(2000, 0.7, 45, 1.18)
conv_supercritical.Nu_Krasnoshchekov(100000.0, 1.2)
conv_supercritical.Nu_Yamagata(100000.0, 1.2, 1.5, 2080.845, 2048.621, 650, 700, 600.0)
conv_two_phase.Ravipudi_Godbold(1, 0.9, 0.3, 1000, 2.5, 2300, 0.6, 1e-05, 0.001, 0.0012)
hx.P_NTU_method(5.2, 1.45, 1860.0, 1900, 3041.75, 130, T2i=15, subtype='E', Ntp=4)
"""  # noqa: E501


def examples() -> list[Example]:
    tables = {"chemicals": _CHEMICALS, "fluids": _FLUIDS, "ht": _HT, "transforms3d": _TRANSFORMS3D}
    return [_example(package, line) for package, lines in tables.items() for line in lines.strip().splitlines()]


def _example(package: str, line: str) -> Example:
    """A call of literals, as a docstring shows it."""
    call: Any = ast.parse(line, mode="eval").body
    arguments = tuple([_value(argument) for argument in call.args])
    keywords = {keyword.arg: _value(keyword.value) for keyword in call.keywords}
    return Example(f"{package}.{ast.unparse(call.func)}", arguments, keywords)


def _value(node: ast.expr) -> Any:
    """A literal; a list of floats is an array."""
    value = ast.literal_eval(node)
    array = np.asarray(value) if isinstance(value, list) else None
    return value if array is None or array.dtype.kind != "f" else array
