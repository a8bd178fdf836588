import Testing

@testable import WebServiceClient

@Suite struct StatusSetTests {
    @Test func `Codes, ranges and unions`() {
        let set: StatusSet = [304, 200]
        #expect(set.contains(200) && set.contains(304) && !set.contains(201))
        #expect(StatusSet.codes(1, 2, 3) == .range(1...3))
        #expect(StatusSet.success.union(.notModified).description == "200…299, 304")
        #expect(StatusSet.range(200...250).union(.range(240...299)) == .success)
        #expect(StatusSet().isEmpty)
    }

    @Test func `named sets hold the statuses of their class`() {
        #expect(StatusSet.noContent == [204] && StatusSet.accepted == [202] && StatusSet.notFound == [404])
        #expect(StatusSet.redirection == .range(300...399))
        #expect(StatusSet.clientError == .range(400...499))
        #expect(StatusSet.serverError == .range(500...599))
        #expect(StatusSet.success.union(.redirection).union(.clientError).union(.serverError) == .range(200...599))
    }

    @Test func `A property and a literal mean the same`() {
        #expect(StatusSet.created == [201])
        #expect(
            EndpointDescriptor.get("/").accepting(.created).settings.statuses
                == EndpointDescriptor.get("/").accepting([201]).settings.statuses)
    }

    @Test func `The widest range neither traps in union nor in description`() {
        let all = StatusSet.range(Int.min...Int.max)
        #expect(all.union([Int.max, 5]) == all)
        #expect(all.description.isEmpty == false)
    }
}
