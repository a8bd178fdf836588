import Testing

@testable import RemoteLogger

@Suite struct ShortListTests {
    @Test func `has its elements in their order`() {
        var list = ShortList<Int>()
        #expect(list.isEmpty)
        for number in 0..<5 {
            list.append(number)
            #expect(Array(list) == Array(0...number))
            var seen: [Int] = []
            list.forEach { seen.append($0) }
            #expect(seen == Array(list))
        }
        list[0] = 9
        list[3] = -3
        list.sort()
        #expect(Array(list) == [-3, 1, 2, 4, 9] && Array(ShortList(7)) == [7])
    }
}
