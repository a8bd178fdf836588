public import Foundation

/// Marks types whose terms have a year, month and day.
public protocol ODataCalendarDate {}

/// Marks types whose terms have an hour, minute and second.
public protocol ODataClockTime {}

/// Marks types whose terms have a date, a time of day and an offset from UTC.
public protocol ODataInstant {}

/// Marks types whose terms are durations.
public protocol ODataDuration {}

extension Duration: ODataDuration {}
extension EdmDuration: ODataDuration {}
extension AnyEdm: ODataDuration {}
extension Optional: ODataDuration where Wrapped: ODataDuration {}

extension Date: ODataCalendarDate, ODataClockTime {}
extension EdmDateTimeOffset: ODataCalendarDate, ODataClockTime, ODataInstant {}
extension Date: ODataInstant {}
extension AnyEdm: ODataInstant {}
extension Optional: ODataInstant where Wrapped: ODataInstant {}
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

extension QueryTerm where Value: ODataClockTime {
    /// `fractionalseconds`: the fraction of the second, at least 0 and less than 1.
    public var fractionalSeconds: QueryTerm<Decimal> {
        QueryTerm<Decimal>(calling("fractionalseconds"))
    }
}

extension QueryTerm where Value: ODataInstant {
    /// `date`.
    public var date: QueryTerm<EdmDate> {
        QueryTerm<EdmDate>(calling("date"))
    }

    /// `time`.
    public var time: QueryTerm<EdmTimeOfDay> {
        QueryTerm<EdmTimeOfDay>(calling("time"))
    }

    /// `totaloffsetminutes`: minutes east of UTC.
    public var totalOffsetMinutes: QueryTerm<Int> {
        QueryTerm<Int>(calling("totaloffsetminutes"))
    }

    /// Adds a duration: `add`.
    public static func + (left: QueryTerm, right: Duration) -> QueryTerm {
        QueryTerm(.binary(.add, left.queryExpression, right.queryExpression))
    }

    /// Adds a duration: `add`, written after the time as OData's operand types require.
    public static func + (left: Duration, right: QueryTerm) -> QueryTerm {
        right + left
    }

    /// Subtracts a duration: `sub`.
    public static func - (left: QueryTerm, right: Duration) -> QueryTerm {
        QueryTerm(.binary(.subtract, left.queryExpression, right.queryExpression))
    }

    /// Returns the duration since an earlier time: `sub`.
    public func since(_ earlier: some QueryOperand) -> QueryTerm<Duration> {
        QueryTerm<Duration>(.binary(.subtract, queryExpression, earlier.queryExpression))
    }

    /// `now()`: the service's time.
    public static var now: QueryTerm {
        QueryTerm(.call("now", []))
    }

    /// `mindatetime()`: the earliest point in time.
    public static var earliest: QueryTerm {
        QueryTerm(.call("mindatetime", []))
    }

    /// `maxdatetime()`: the latest point in time.
    public static var latest: QueryTerm {
        QueryTerm(.call("maxdatetime", []))
    }
}

extension QueryTerm where Value: ODataDuration {
    /// `totalseconds`, with the fraction.
    public var totalSeconds: QueryTerm<Decimal> {
        QueryTerm<Decimal>(calling("totalseconds"))
    }
}
