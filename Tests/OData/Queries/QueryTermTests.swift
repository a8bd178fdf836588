import Foundation
import OData
import Testing

@Suite struct QueryTermTests {
    private func expect(
        _ expected: String, version: ODataVersion = .v4, sourceLocation: SourceLocation = #_sourceLocation,
        _ build: (QueryTerm<Person>) -> QueryTerm<Bool>
    ) throws {
        #expect(try filterText(build, version: version) == expected, sourceLocation: sourceLocation)
    }

    @Test func comparisonsPrintTheirOperators() throws {
        try expect("Age gt 21") { $0.age > 21 }
        try expect("Age ge 21") { $0.age >= 21 }
        try expect("Age lt -1") { $0.age < -1 }
        try expect("Age le 21") { $0.age <= 21 }
        try expect("Age eq null") { $0.age == nil }
        try expect("Age ne null") { $0.age != nil }
        try expect("UserName eq 'ada'") { $0.userName == "ada" }
        try expect("LastName eq Name") { $0.name == $0.lastName }
        let missing: String? = nil
        try expect("UserName eq null") { $0.userName == missing }
    }

    @Test func theDesignsExample() throws {
        try expect("Age gt 21 and startswith(LastName,'O''') or Trips/any(x1:x1/Budget ge 1000.0)") {
            $0.age > 21 && $0.name.hasPrefix("O'") || $0.trips.any { $0.budget >= 1_000 }
        }
    }

    @Test func parenthesesComeFromPrecedence() throws {
        try expect("(Age gt 1 or IsActive) and not IsHidden") { ($0.age > 1 || $0.isActive) && !$0.isHidden }
        try expect("Age gt 1 and IsActive or IsHidden") { $0.age > 1 && $0.isActive || $0.isHidden }
        try expect("not (Age gt 1 and IsActive)") { !($0.age > 1 && $0.isActive) }
        try expect("not (not IsActive)") { !(!$0.isActive) }
        try expect("(Age add 1) mul 2 gt 7") { ($0.age + 1) * 2 > 7 }
        try expect("Age add 1 mul 2 gt 7") { person in
            let one = QueryTerm<Int?>(.literal(.integer(1)))
            return person.age + one * 2 > 7
        }
        try expect("Age sub 1 sub 2 gt 7") { $0.age - 1 - 2 > 7 }
        try expect("Age sub (Age sub 2) gt 7") { $0.age - ($0.age - 2) > 7 }
        try expect("(-Age) mul 2 lt 3") { -$0.age * 2 < 3 }
        try expect("Age div 2 mod 3 eq 1") { $0.age / 2 % 3 == 1 }
        try expect("(IsActive eq true) eq IsHidden") { ($0.isActive == true) == $0.isHidden }
    }

    @Test func functionsHaveSwiftsNames() throws {
        try expect("contains(UserName,'a')") { $0.userName.contains("a") }
        try expect("contains(UserName,LastName)") { $0.userName.contains($0.name) }
        try expect("endswith(UserName,'a')") { $0.userName.hasSuffix("a") }
        try expect("tolower(UserName) eq 'ada'") { $0.userName.lowercased() == "ada" }
        try expect("toupper(UserName) eq 'ADA'") { $0.userName.uppercased() == "ADA" }
        try expect("trim(UserName) eq 'ada'") { $0.userName.trimmed() == "ada" }
        try expect("length(UserName) gt 3") { $0.userName.count > 3 }
        try expect("indexof(UserName,'d') eq 1") { $0.userName.index(of: "d") == 1 }
        try expect("substring(UserName,1) eq 'da'") { $0.userName.substring(from: 1) == "da" }
        try expect("substring(UserName,1,2) eq 'da'") { $0.userName.substring(from: 1, length: 2) == "da" }
        try expect("concat(concat(LastName,', '),Name) eq 'a, b'") { $0.name + ", " + $0.lastName == "a, b" }
        try expect("year(Registered) eq 2026") { $0.registered.year == 2026 }
        try expect("month(Registered) eq 11 and day(Registered) eq 21") { $0.registered.month == 11 && $0.registered.day == 21 }
        try expect("hour(Registered) add minute(Registered) add second(Registered) eq 0") {
            $0.registered.hour + $0.registered.minute + $0.registered.second == 0
        }
        try expect("Trips/all(x1:round(x1/Budget) eq floor(x1/Budget) and ceiling(x1/Price) eq 1)") {
            $0.trips.all { $0.budget.rounded() == $0.budget.rounded(.down) && $0.price.rounded(.up) == 1 }
        }
        try expect("geo.length(Route) gt 3.0") { _ in
            QueryTerm<Double>.function("geo.length", QueryTerm<AnyEdm>.property("Route")) > 3
        }
    }

    @Test func membersOfComplexAndOptionalPropertiesPrintPaths() throws {
        try expect("Home/City eq 'Bonn'") { $0.home.city == "Bonn" }
        try expect("Address/City eq 'Bonn'") { $0.address.city == "Bonn" }
        try expect("Address/Country/Code eq null") { $0.address.country.code == nil }
        try expect("BestFriend/Age gt 5") { $0.bestFriend.age > 5 }
        try expect("Address ne null") { $0.address.of(AnyEdm.self) != nil }
    }

    @Test func enumerationsPrintQualified() throws {
        try expect("Gender eq Trippin.Gender'Female'") { $0.gender == .female }
        try expect("Favourite has Trippin.Gender'Male'") { $0.favourite.has(.male) }
        try expect("Gender eq Trippin.Gender'Female' or Gender eq Trippin.Gender'Male'", version: .v401) {
            $0.gender.isIn([.female, .male])
        }
    }

    @Test func listsOfValues() throws {
        try expect("Age eq 1 or Age eq 2 or Age eq null") { $0.age.isIn([1, 2, nil]) }
        try expect("(Age eq 1 or Age eq 2) and IsActive") { $0.age.isIn([1, 2]) && $0.isActive }
        try expect("UserName eq 'a'") { ["a"].contains($0.userName) }
        try expect("false") { $0.age.isIn([]) }
        try expect("not false") { !$0.age.isIn([]) }
        try expect("UserName in ('a','b''')", version: .v401) { $0.userName.isIn(["a", "b'"]) }
        try expect("not (UserName in ('a','b'))", version: .v401) { !$0.userName.isIn(["a", "b"]) }
        try expect("Age eq 1 or Age eq null", version: .v401) { $0.age.isIn([1, nil]) }
    }

    @Test func lambdasNestWithAFreshVariableEach() throws {
        try expect("Trips/any(x1:x1/Stops/any(x2:x2/Nights gt 2 and x1/Budget gt 3.0 and Age gt 4))") { person in
            person.trips.any { trip in trip.stops.any { stop in stop.nights > 2 && trip.budget > 3 && person.age > 4 } }
        }
        try expect("Trips/any(x1:Friends/all(x2:x2/Age gt 1 and x1/Budget gt 2.0))") { person in
            person.trips.any { trip in person.friends.all { $0.age > 1 && trip.budget > 2 } }
        }
        try expect("Emails/any(x1:endswith(x1,'.org')) and Emails/any() and not Trips/any()") {
            $0.emails.any { $0.hasSuffix(".org") } && $0.emails.any() && $0.trips.isEmpty
        }
        try expect("Trips/$count gt 5") { $0.trips.count > 5 }
        try expect("Emails/any(x1:x1 eq 'a''b')") { $0.emails.contains("a'b") }
        try expect("not Emails/any(x1:x1 eq '')") { !$0.emails.contains("") }
        try expect("x1 eq 1 and Trips/any(xx1:xx1/Budget gt 1.0)") { $0["x1"] == 1 && $0.trips.any { $0.budget > 1 } }
    }

    @Test func equalQueriesAreEqualValues() {
        func query(_ budget: Double) -> FetchRequest<Person> {
            FetchRequest<Person>().filter { $0.trips.any { trip in trip.stops.any { $0.nights > 1 } && trip.budget > budget } }
        }
        #expect(query(1) == query(1))
        #expect(query(1) != query(2))
        #expect(query(1).hashValue == query(1).hashValue)
    }

    @Test func aVariableOutsideOfItsLambdaIsRefused() throws {
        var leaked: QueryTerm<Trip>?
        _ = FetchRequest<Person>().filter {
            $0.trips.any { trip in
                leaked = trip
                return trip.budget > 1
            }
        }
        let trip = try #require(leaked)
        #expect(throws: ODataQueryError.variableOutOfScope) {
            try QueryPrinter().text(of: (trip.budget > 1).queryExpression)
        }
    }

    @Test func untypedFilters() throws {
        let request = FetchRequest<DynamicEntity>(from: "People")
        func text(_ request: FetchRequest<DynamicEntity>) throws -> String? {
            try request.relativeURL().removingPercentEncoding
        }
        #expect(try text(request.filter(.property("Age") > 21)) == "People?$filter=Age gt 21")
        #expect(try text(request.filter(.property("Name") == nil)) == "People?$filter=Name eq null")
        #expect(
            try text(request.filter { $0["Age"] > 21 && $0["Trips"].any { $0["Budget"] >= 1_000 } })
                == "People?$filter=Age gt 21 and Trips/any(x1:x1/Budget ge 1000)")
        #expect(
            try text(request.filter { $0["Address/City"] == "Bonn" && $0["Name"].hasPrefix("A") })
                == "People?$filter=Address/City eq 'Bonn' and startswith(Name,'A')")
        #expect(try text(request.filter { $0["A"].isIn([1, "b"]) }) == "People?$filter=A eq 1 or A eq 'b'")
        #expect(try text(request.filter { $0["A"].adding(1) > $0["B"] }) == "People?$filter=A add 1 gt B")
        #expect(
            try text(request.filter { $0["Ns.Employee/Salary"] > 3 && $0["Friends/$count"] > 2 })
                == "People?$filter=Ns.Employee/Salary gt 3 and Friends/$count gt 2")
    }

    @Test func rawTextIsMarkedAndPercentEncoded() throws {
        let request = FetchRequest<DynamicEntity>(from: "People").filter(raw: "Name eq 'A&B/ä+%'").filter(raw: "Age gt 1 or Age lt 0")
        #expect(
            try request.relativeURL()
                == "People?$filter=(Name%20eq%20'A%26B%2F%C3%A4%2B%25')%20and%20(Age%20gt%201%20or%20Age%20lt%200)")
    }

    @Test func wordsThatMeanSomethingElseAreReachedFromTheInstance() throws {
        #expect(try QueryPrinter().text(of: .path(QueryPath("null"))) == "$it/null")
        #expect(try QueryPrinter().text(of: .unary(.negate, .path(QueryPath("INF")))) == "-$it/INF")
        #expect(try QueryPrinter().text(of: .unary(.negate, .literal(.integer(5)))) == "-(5)")
    }

    @Test func longChainsAreWalkedAndDeepNestingIsRefused() throws {
        var chain = QueryTerm<AnyEdm>.property("A") == 0
        for number in 1...2_000 { chain = chain || QueryTerm<AnyEdm>.property("A") == number }
        #expect(try QueryPrinter().text(of: chain.queryExpression).hasSuffix("A%20eq%202000"))
        var nested = QueryTerm<Bool>(.path(QueryPath("A")))
        for _ in 0..<1_000 { nested = !nested }
        #expect(throws: ODataQueryError.tooDeep(limit: 128)) { try QueryPrinter().text(of: nested.queryExpression) }
    }

    @Test func featuresThatAVersionLacksAreErrors() throws {
        let expression = QueryExpression.binary(.divideBy, .path(QueryPath("A")), .literal(.integer(2)))
        #expect(throws: ODataQueryError.unsupported("divby", version: .v4)) { try QueryPrinter().text(of: expression) }
        #expect(try QueryPrinter(version: .v401).text(of: expression) == "A%20divby%202")
        for name in ["", "A B", "1A", "A'", "A/", "a)eq(1"] {
            #expect(throws: ODataQueryError.self) { try QueryPrinter().text(of: .path(QueryPath(name))) }
        }
        #expect(throws: ODataQueryError.self) { try QueryPrinter().text(of: .call("f(1)", [])) }
    }
}
