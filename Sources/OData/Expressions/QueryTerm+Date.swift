public import Foundation

/// Marks the types whose terms have a year, month and day.
public protocol ODataCalendarDate {}

/// Marks the types whose terms have an hour, minute and second.
public protocol ODataClockTime {}

extension Date: ODataCalendarDate, ODataClockTime {}
extension EdmDate: ODataCalendarDate {}
extension EdmTimeOfDay: ODataClockTime {}
extension AnyEdm: ODataCalendarDate, ODataClockTime {}
extension Optional: ODataCalendarDate where Wrapped: ODataCalendarDate {}
extension Optional: ODataClockTime where Wrapped: ODataClockTime {}

extension QueryTerm where Value: ODataCalendarDate {
    /// `year`.
    public var year: QueryTerm<Int> {
        QueryTerm<Int>(calling("year"))
    }

    /// `month`, 1 to 12.
    public var month: QueryTerm<Int> {
        QueryTerm<Int>(calling("month"))
    }

    /// `day` of the month.
    public var day: QueryTerm<Int> {
        QueryTerm<Int>(calling("day"))
    }
}

extension QueryTerm where Value: ODataClockTime {
    /// `hour`.
    public var hour: QueryTerm<Int> {
        QueryTerm<Int>(calling("hour"))
    }

    /// `minute`.
    public var minute: QueryTerm<Int> {
        QueryTerm<Int>(calling("minute"))
    }

    /// `second`, without its fraction.
    public var second: QueryTerm<Int> {
        QueryTerm<Int>(calling("second"))
    }
}
