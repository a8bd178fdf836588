import Foundation
import OData
import ODataQueryParsing
import Testing

/// One tree in three spellings.
@Suite struct DialectTests {
    private func text(
        _ expression: QueryTerm<Bool>, _ version: ODataVersion, dates: V2DateSpelling = .dateTime
    ) throws(ODataQueryError) -> String? {
        try QueryPrinter(version: version, v2Dates: dates).text(of: expression.queryExpression).removingPercentEncoding
    }

    private static let person = QueryTerm<Person>(.path(QueryPath(segments: [])))
    private static let trip = QueryTerm<Trip>(.path(QueryPath(segments: [])))

    @Test func listsTextAndCounts() throws {
        let listed = Self.person.userName.isIn(["a", "b"])
        #expect(try text(listed, .v2) == "UserName eq 'a' or UserName eq 'b'")
        #expect(try text(listed, .v4) == "UserName eq 'a' or UserName eq 'b'")
        #expect(try text(listed, .v401) == "UserName in ('a','b')")
        let contains = Self.person.userName.contains("x")
        #expect(try text(contains, .v2) == "substringof('x',UserName)")
        #expect(try text(contains, .v4) == "contains(UserName,'x')")
        let counted = FetchRequest<Person>().selectAll().count()
        #expect(try counted.relativeURL(using: QueryPrinter(version: .v2)) == "People?$inlinecount=allpages")
        #expect(try counted.relativeURL(using: QueryPrinter(version: .v4)) == "People?$count=true")
    }

    @Test func `path features that version 2 lacks are errors that name them`() throws {
        let people = FetchRequest<DynamicEntity>(from: "People")
        func url(_ request: FetchRequest<DynamicEntity>, _ version: ODataVersion) throws -> String {
            try request.relativeURL(using: QueryPrinter(version: version))
        }
        let all = people.expandAll()
        #expect(try url(all, .v4) == "People?$expand=*")
        #expect(throws: ODataQueryError.unsupported("$expand=*", version: .v2)) { try url(all, .v2) }
        #expect(try url(people.select("*"), .v2) == "People?$select=*")
        let aggregated = people.filter(
            expression: try QueryParser().expression("sales/aggregate(amount with sum) gt 5"))
        #expect(try url(aggregated, .v4) == "People?$filter=sales/aggregate(amount%20with%20sum)%20gt%205")
        #expect(throws: ODataQueryError.unsupported("aggregates in expressions", version: .v2)) { try url(aggregated, .v2) }
    }

    @Test func literalsHaveTheirPrefixesAndSuffixesInV2() throws {
        func literal(_ value: any EdmConvertible, dates: V2DateSpelling = .dateTime) throws -> String? {
            try QueryPrinter(version: .v2, v2Dates: dates).text(of: value.edmValue).removingPercentEncoding
        }
        #expect(try literal(5) == "5")
        #expect(try literal(Int64(5)) == "5L")
        #expect(try literal(5_000_000_000) == "5000000000L")
        #expect(try literal(1.5) == "1.5d")
        #expect(try literal(Float(1.5)) == "1.5f")
        #expect(try literal(Decimal(string: "1.50")) == "1.5M")
        #expect(try literal(EdmValue.number("12345678901234567890.5")) == "12345678901234567890.5M")
        #expect(try literal("O'Neil") == "'O''Neil'")
        #expect(try literal(true) == "true")
        #expect(try literal(Int?.none) == "null")
        #expect(
            try literal(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))) == "guid'01020304-0506-0708-090a-0b0c0d0e0f10'"
        )
        #expect(try literal(Date(timeIntervalSince1970: 0.5)) == "datetime'1970-01-01T00:00:00.5'")
        #expect(try literal(Date(timeIntervalSince1970: 0.5), dates: .dateTimeOffset) == "datetimeoffset'1970-01-01T00:00:00.5Z'")
        #expect(try literal(EdmDateTimeOffset("2026-11-21T12:00:00+01:00")) == "datetimeoffset'2026-11-21T12:00:00+01:00'")
        #expect(try literal(EdmDateTimeOffset("2026-11-21T12:00:00")) == "datetime'2026-11-21T12:00:00'")
        #expect(try literal(EdmDate("2026-11-21")) == "datetime'2026-11-21T00:00:00'")
        #expect(try literal(EdmTimeOfDay("13:20")) == "time'PT13H20M'")
        #expect(try literal(Duration.seconds(90)) == "time'PT1M30S'")
        #expect(try literal(Data([0, 255])) == "X'00FF'")
        #expect(try literal(Gender.female) == "'Female'")
        for wrong in [Double.nan, .infinity] { #expect(throws: ODataQueryError.self) { try literal(wrong) } }
        #expect(throws: ODataQueryError.self) { try literal(EdmSpatial.point(longitude: 1, latitude: 2)) }
    }

    @Test func everyV2LiteralIsParsedAsItWasPrinted() throws {
        let values: [EdmValue] = [
            .null, .boolean(true), .integer(-5), .int64(5), .double(1.5), .single(1.5),
            .decimal(Decimal(sign: .plus, exponent: -1, significand: 15)),
            .string("a'b/ä"), .guid(UUID()), .binary(Data([0, 255])), .duration(.seconds(-90)),
        ]
        for value in values {
            #expect(try QueryParser(version: .v2).literal(QueryPrinter(version: .v2).text(of: value)) == value)
        }
    }

    @Test func relationsOfV2HaveNoParentheses() throws {
        let printer = QueryPrinter(version: .v2)
        let people = FetchRequest<Person>()
        #expect(
            try people.select(\.name).expand(\.trips) { $0.select(\.id) }.relativeURL(using: printer)
                == "People?$select=LastName,Trips/TripId&$expand=Trips")
        #expect(
            try people.select(\.name).expand(\.trips) { $0.selectAll() }.relativeURL(using: printer)
                == "People?$select=LastName,Trips&$expand=Trips")
        #expect(
            try people.selectAll().expand(\.trips) { $0.selectAll() }.relativeURL(using: printer) == "People?$expand=Trips")
        #expect(
            try people.selectAll().expand(\.friends) { $0.select(\.name).expand(\.trips) { $0.select(\.id) } }.relativeURL(using: printer)
                == "People?$select=*,Friends/LastName,Friends/Trips/TripId&$expand=Friends,Friends/Trips")
        let error = #expect(throws: ODataQueryError.self) { try people.expand(\.trips) { $0.top(3) }.relativeURL(using: printer) }
        #expect(error == .unsupported("options in $expand", version: .v2))
        #expect(
            error?.description
                == "OData 2.0 has no 'options in $expand': request the relation separately, or use a service of version 4.")
    }

    @Test func pathsOfV2() throws {
        let printer = QueryPrinter(version: .v2)
        #expect(try printer.text(of: ResourcePath(entitySet: "Orders").key(1).property("Items").ref()) == "Orders(1)/$links/Items")
        #expect(try printer.text(of: ResourcePath(entitySet: "Orders").key(Int64(1)).property("Customer")) == "Orders(1L)/Customer")
        #expect(try printer.text(of: ResourcePath(entitySet: "Orders").key(1).property("Items").count()) == "Orders(1)/Items/$count")
        let function = FetchRequest<DynamicEntity>(resource: ResourcePath(function: "Top", ["count": 5, "name": "a&b"])).top(3)
        #expect(try function.relativeURL(using: printer) == "Top?count=5&name='a%26b'&$top=3")
        #expect(try function.relativeURL() == "Top(count=5,name='a%26b')?$top=3")
        #expect(try text(Self.person.home.converted(to: "Edm.String") == "x", .v2) == "cast(Home,'Edm.String') eq 'x'")
    }

    @Test func whatAVersionLacksIsAnErrorThatNamesIt() {
        let conditions: [(QueryTerm<Bool>, ODataVersion, String)] = [
            (Self.person.trips.any(), .v2, "any"),
            (Self.person.trips.count > 1, .v2, "$count in expressions"),
            (Self.person.gender.has(.female), .v2, "has"),
            (Self.trip.startsAt.date == nil, .v2, "date"),
            (Self.person.userName == .alias("p"), .v2, "parameter aliases"),
            (Self.person.userName.matches(pattern: "a"), .v4, "matchesPattern"),
            (Self.person.emails.hasSubset(["a"]), .v4, "hassubset"),
            (Self.person.age.divided(exactlyBy: 2) > 1, .v4, "divby"),
            (Self.person.trips.filter { $0.budget > 1 }.count > 1, .v4, "$filter in paths"),
            (Self.person.trips.count { $0.budget > 1 } > 1, .v4, "$count with options"),
            (Self.person.userName.isIn(Self.person.emails), .v4, "in"),
            (.when([(Self.person.isActive, true)]) == true, .v4, "case"),
            (QueryTerm<String>.this == "a", .v4, "$this"),
        ]
        for (condition, version, what) in conditions {
            #expect(throws: ODataQueryError.unsupported(what, version: version)) { try text(condition, version) }
        }
        let requests: [(FetchRequest<Person>, ODataVersion, String)] = [
            (FetchRequest<Person>().search("a"), .v2, "$search"),
            (FetchRequest<Person>().compute("A") { $0.age + 1 }, .v4, "$compute"),
            (FetchRequest<Person>().select(\.emails) { $0.top(1) }, .v4, "options in $select"),
            (FetchRequest<Person>().schemaVersion("1"), .v4, "$schemaversion"),
        ]
        for (request, version, what) in requests {
            #expect(throws: ODataQueryError.unsupported(what, version: version)) {
                try request.relativeURL(using: QueryPrinter(version: version))
            }
        }
    }
}
