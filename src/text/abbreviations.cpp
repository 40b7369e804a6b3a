#include "text/abbreviations.h"

#include <algorithm>
#include <iterator>

namespace dragoman {
namespace {

// Titles and other words that precede a name or a number; none that often end a sentence ("etc", "usw"). Single
// letters and capitals with full stops between ("U.S.") need no row.
constexpr Abbreviations table[] = {
    {"", ""},
    {"cs", "Bc Ing JUDr MUDr Mgr Mudr PaedDr PhDr RNDr doc prof např tj tzn tzv mj popř resp sv ul nám",
     "č čl odst s str", true},
    {"da", "Dr Hr Fr St dr hr fr bl.a ca dvs d.v.s eks f.eks fx jf kgl mht nr pga sml vedr", "kap s", true},
    {"de",
     "Abb Abs Art Bd Betr Bhf Dipl Dir Dr Fa Fam Fr Frl Gebr Hbf Hr Hrn Hrsg Ing Inh Jh Kap Med Mio Mr Mrs Mrd Nr Pf "
     "Priv.-Doz Prof Red Sr St Std Str Tel Univ Verf Vgl Ziff abzgl allg bes bspw bzgl bzw ca d.h dgl einschl entspr "
     "evtl geb gegr gem gest ggf inkl insb m.E max med min mind o.ä phil rd rer sog stellv tägl u.a u.Ä urspr usw verh "
     "versch vgl vs z.B z.T z.Zt zzgl östl nördl südl westl",
     "S Nrn §", true},
    {"en",
     "Adm Brig Bros Capt Cmdr Col Cpl Dr Drs Ens Esq Fr Gen Gov Hon Lt Maj Messrs Mgr Mme Mlle Mr Mrs Ms Msgr Mt Pfc "
     "Ph.D Pres Prof Pvt Rep Reps Rev Rt Sen Sens Sgt Sr St Ste Supt Surg approx cf e.g esp i.e viz vs",
     "Apr Art Aug Ch Dec Eq Eqs Feb Fig Figs Jan Jul Jun Mar No Nos Nov Nr Oct Sec Sect Sep Sept Tab Vol ch eq fig fol "
     "no nos p pp par sec vol"},
    {"es",
     "Arq Av Avda Cap Cía D.ª Dir Dr Dra Dres Excmo Fdo Gral Hnos Ing Lic Mons Prof Profa S.A Sr Sra Sres Srta Sto Sta "
     "Ud Uds Vd Vds admón aprox p.ej p.ej",
     "art fig núm p pág págs t vol"},
    {"et", "dr hr pr prof St nt s.t s.o mh jm", "lk nr", true},
    {"fi", "dr esim fil.tri huom mm ns prof ts tri vrt", "nro s", true},
    {"fr",
     "Cie Dr Dre Ets MM Me Mgr Mlle Mlles Mme Mmes Mr Pr Prof Sr Ste St ap apr av bd boul c.-à-d cf chap env ex hab "
     "p.ex resp tél",
     "art fig n no nos p pp vol"},
    {"hr", "dr doc gđa gđica ing mr npr prof sv tj tzv ul", "br čl str", true},
    {"hu", "dr Dr id ifj özv pl ún u.n vö Szt", "kb old", true},
    {"it",
     "Arch Avv Dott Dott.ssa Dr Egr Gent Geom Ing Mons On Preg Prof Prof.ssa Rag Rev Sig Sigg Sig.ra Sig.na Spett ad "
     "es "
     "ca cfr p.es c.d",
     "art artt fig n nn p pag pagg vol"},
    {"nb", "Dr Hr St adr bl.a ca dr dvs f.eks hr jf kgl prof vedr", "kap nr s", true},
    {"nl",
     "Dhr Dr Drs Ing Ir Mevr Mr Prof St a.d afb bijv bv ca d.w.z dhr dr drs evt excl i.p.v incl ing ir jhr jl m.b.t "
     "m.n mevr mr o.a prof resp t.a.v t.o.v z.g",
     "art blz hfdst nr nrs p pag"},
    {"pl",
     "abp bp dr doc gen hab hr im inż itp kard kpt ks lek m.in mgr mjr np o.o płk por prof rtm s.j sp św tj tzn tzw ul "
     "zob",
     "art godz nr pkt poz r rozdz s str ust", true},
    {"pt", "Arq Av Cia D.ª Dr Dra Drs Eng Exmo Exma Ltda Prof Profa Rev Sr Sra Srs Sras Srta Sta Sto V.Ex aprox p.ex",
     "art fig n nº p pág págs vol"},
    {"ro", "Dl Dna Dr Prof Sf dl dna dr ex ing prof str", "art nr p pag"},
    {"ru", "акад бул г гг гр д-р др им кв корп см напр обл пер пл пос просп проф р-н св след ср стр т.е т.н т.д тов ул",
     "гл кн п рис с ст стр табл тел"},
    {"sk", "Bc Ing JUDr MUDr Mgr PhDr RNDr doc prof napr tj tzn tzv resp sv ul", "č čl ods s str", true},
    {"sl", "dr doc ga g ing mag npr prof sv t.i tj ul", "čl št str", true},
    {"sv", "Dr Hr St bl.a ca d.v.s doc dr f.d fr.o.m hr jfr kl m.a.o m.m o.d p.g.a prof resp s.k t.ex t.o.m tr",
     "kap nr s"},
    {"tr", "Alb Av Bşk Dç Doç Dr Gen Hz Müh Op Prof Sn St Yrd bkz vb vs örn", "No s", true},
    {"uk", "акад бул вул гр д-р ім м напр обл пл пров просп проф р-н св см т.зв т.ін тов",
     "гл кн п рис с ст стор табл"},
};

}  // namespace

const Abbreviations& abbreviations_of(std::string_view language) {
  if (language == "no" || language == "nn") language = "nb";
  const auto* found = std::ranges::find(table, language, &Abbreviations::language);
  return found == std::end(table) ? table[0] : *found;
}

}  // namespace dragoman
